// The report: sections put together and written.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include <adit/error.hpp>

#include "io/file.hpp"
#include "posterior/report/plots.hpp"
#include "posterior/report/style.hpp"
#include "posterior/report/text.hpp"

namespace adit::report {

namespace {

constexpr size_t most_cards = 24;

std::string seconds_words(double seconds) {
  return seconds >= 120 ? fmt::format("{} s ({:.0f} min)", count(seconds), seconds / 60)
                        : number(seconds) + " s";
}

std::string note(const std::string& kind, const std::string& text) {
  return fmt::format("<div class=\"note {}\">{}</div>", kind, text);
}

std::string verdict(const Material& material) {
  const Draws& draws = *material.draws;
  if (material.elements.empty()) return note("bad", "There are no draws to report on.");
  std::string out;
  if (!draws.finished)
    out += note("bad", "The run was stopped before all draws were made; this is what there is.");
  for (const auto& warning : warnings(draws, material.summary)) {
    std::string text = escape(warning);
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 4) text.replace(at, 1, "<br>");
    out += note("bad", text);
  }
  return out.empty() ? note("good",
                            "No problems found: R-hat, effective sample sizes, divergences, tree depths and "
                            "energies are as they should be.")
                     : out;
}

std::string fact(const std::string& name, const std::string& value) {
  return "<div><dt>" + name + "</dt><dd>" + escape(value) + "</dd></div>";
}

// The smallest of all elements, and whose it is.
std::string efficiency_facts(const Material& material) {
  const double seconds = material.draws->seconds.sampling;
  const Element* least = nullptr;
  for (const auto& element : material.elements)
    if (element.varies && std::isfinite(element.row->ess_bulk) &&
        (!least || element.row->ess_bulk < least->row->ess_bulk))
      least = &element;
  if (!least) return {};
  std::string out = fact("smallest ESS_bulk",
                         fmt::format("{} ({})", count(least->row->ess_bulk), shorten(least->name(), 24)));
  if (seconds > 0) out += fact("smallest ESS_bulk/s", count(least->row->ess_bulk / seconds));
  return out;
}

std::string run_facts(const Material& material) {
  const Draws& draws = *material.draws;
  std::string out = "<dl class=\"facts\">";
  out += fact("model", draws.model.empty() ? "–" : draws.model);
  if (!draws.device.empty()) out += fact("device", draws.device + ", " + draws.precision);
  out += fact("chains", count(static_cast<double>(draws.chains)));
  out += fact("draws a chain", count(static_cast<double>(draws.draws)) +
                                   (draws.thin > 1 ? fmt::format(", every {}th kept", draws.thin) : ""));
  out += fact("warm-up", count(static_cast<double>(draws.warmup)));
  out += fact("parameters", count(static_cast<double>(material.elements.size())));
  out += fact("metric", draws.metric);
  out += fact("adapt_delta, max_depth", fmt::format("{}, {}", draws.adapt_delta, draws.max_depth));
  out += fact("seed, inits", fmt::format("{}, {}", draws.seed, draws.inits));
  const Seconds& seconds = draws.seconds;
  if (seconds.total > 0 || seconds.sampling > 0) {
    out += fact("opening and compiling", seconds_words(seconds.open + seconds.compile));
    out += fact("warming up", seconds_words(seconds.warmup));
    out += fact("sampling", seconds_words(seconds.sampling));
    out += fact("in all", seconds_words(seconds.total));
  }
  if (draws.leapfrogs) out += fact("leapfrog steps", count(static_cast<double>(draws.leapfrogs)));
  const double moving = seconds.warmup + seconds.sampling;
  if (draws.leapfrogs && moving > 0)
    out += fact("leapfrog steps/s", count(static_cast<double>(draws.leapfrogs) / moving));
  out += efficiency_facts(material);
  out += fact("divergences",
              fmt::format("{} ({} in warm-up)", count(static_cast<double>(material.divergent.size())),
                          count(static_cast<double>(draws.warmup_divergences))));
  return out + "</dl>";
}

std::string card(const Material& material, const Element& element, bool worst) {
  const Series values = series(material, element);
  const SummaryRow& row = *element.row;
  std::string out = fmt::format(
      "<article class=\"element\"><h3>{} <small>{} ± {}, R-hat {}, ESS {} bulk, {} tail</small>{}</h3>",
      escape(element.name()), number_beside(row.mean, row.sd), number(row.sd), number(row.r_hat, 4),
      count(row.ess_bulk), count(row.ess_tail), worst ? " <span class=\"chip\">among the worst</span>" : "");
  const auto missing =
      std::count_if(values.values.begin(), values.values.end(), [](double v) { return !std::isfinite(v); });
  if (missing) out += fmt::format("<p>{} draws are not finite.</p>", count(static_cast<double>(missing)));
  return out + "<div class=\"panels\">" + trace_plot(material, element.name(), values) +
         density_plot(material, element.name(), values) + rank_plot(material, element.name(), values) +
         autocorrelation_plot(material, element.name(), values) + "</div></article>\n";
}

std::string legend(const Material& material) {
  std::string out = "<p class=\"legend\">";
  if (material.many_chains()) {
    out += fmt::format("<span>Bands hold 50 and 90 % of the {} chains, the line is their median.</span>",
                       count(static_cast<double>(material.draws->chains)));
  } else {
    for (int64_t c = 0; c < material.draws->chains; ++c)
      out += fmt::format("<span class=\"t{}\">chain {}</span>", c % 8, c + 1);
  }
  if (!material.divergent.empty()) out += "<span class=\"diverging\">red marks: divergences</span>";
  return out + "</p>";
}

std::string cards(const Material& material) {
  const Selection selection = select(material, most_cards);
  if (selection.elements.empty()) return {};
  std::string out;
  if (selection.elements.size() < selection.varying)
    out += fmt::format(
        "<p>{} of {} elements: the {} with the worst R-hat or ESS, and the first of each variable. The "
        "table has them all.</p>",
        selection.elements.size(), count(static_cast<double>(selection.varying)), most_cards / 2);
  const size_t constant = material.elements.size() - selection.varying;
  if (constant)
    out += fmt::format("<p>{} {} not vary (constant, or never finite) and {} not drawn.</p>",
                       count(static_cast<double>(constant)), constant == 1 ? "element does" : "elements do",
                       constant == 1 ? "is" : "are");
  out += legend(material);
  for (size_t i = 0; i < selection.elements.size(); ++i)
    out += card(material, *selection.elements[i], selection.worst[i]);
  return out;
}

struct Section {
  std::string id, title, body;
};

std::string assemble(const Draws& draws, const std::vector<Section>& sections, const std::string& on_top) {
  const std::string title = escape(draws.model.empty() ? "Posterior" : draws.model);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{} – report</title>"
      "<style>{}</style></head>\n<body><header><h1>{}</h1><p class=\"lead\">{} {} of {} draws{}</p><nav>",
      title, style_sheet, title, count(static_cast<double>(draws.chains)),
      draws.chains == 1 ? "chain" : "chains", count(static_cast<double>(draws.draws)),
      draws.device.empty() ? "" : " on " + escape(draws.device));
  for (const auto& section : sections)
    if (!section.body.empty()) out += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.title);
  out += "</nav></header>\n<main><section id=\"verdict\">" + on_top + "</section>\n";
  for (const auto& section : sections)
    if (!section.body.empty())
      out += fmt::format("<section id=\"{}\"><h2>{}</h2>{}</section>\n", section.id, section.title,
                         section.body);
  out += fmt::format("</main>\n<footer>Written by Adit.</footer><script>{}</script></body></html>\n",
                     filter_script);
  return out;
}

std::string page(const Draws& draws) {
  const Material material = collect(draws);
  const std::string on_top = verdict(material);
  std::vector<Section> sections{{"run", "The run", run_facts(material)}};
  if (!material.elements.empty()) {
    sections.push_back({"summary", "Summary", summary_table(material)});
    sections.push_back({"intervals", "Intervals", forest_plots(material)});
    sections.push_back({"parameters", "Parameters", cards(material)});
    sections.push_back({"pairs", "Pairs", pair_plots(material)});
    sections.push_back({"sampler", "Sampler", sampler_plots(material)});
    sections.push_back({"predictive", "Predictive check", predictive_plots(material)});
  }
  return assemble(draws, sections, on_top);
}

}  // namespace

std::string figure(const std::string& caption, const std::string& svg, const std::string& style) {
  return fmt::format("<figure{}><figcaption>{}</figcaption>{}</figure>",
                     style.empty() ? "" : " class=\"" + style + "\"", caption, svg);
}

std::string chain_class(int64_t chain) { return "c" + std::to_string(chain % 8); }

}  // namespace adit::report

namespace adit {

void write_report(const Draws& draws, const std::string& path) {
  const std::string text = report::page(draws);
  try {
    write_file({"write_report", path}, path, std::as_bytes(std::span(text.data(), text.size())),
               Links::replaced);
  } catch (const Error& error) {
    throw Error(ErrorKind::io, error.what());
  }
}

}  // namespace adit
