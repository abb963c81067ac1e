#include "posterior/report/style.hpp"

namespace adit::report {

// Colours of chains are told apart by people with the usual kinds of colour blindness (after Okabe and Ito,
// and Tol), and red is kept for what is wrong.
const std::string_view style_sheet = R"css(
:root{color-scheme:light dark;--page:#fff;--ink:#1c2126;--soft:#5b6570;--line:#dfe3e8;--grid:#eceff2;--card:#f8f9fb;
--bad:#c0281a;--bad-page:#fbe3df;--warn-page:#fdf0cf;--good:#0a6b4f;--good-page:#e2f4ed;--link:#0060a0;
--c0:#0072b2;--c1:#d98c00;--c2:#009e73;--c3:#b8578f;--c4:#46a6de;--c5:#6b4fa0;--c6:#8a8a26;--c7:#5f6a75}
@media(prefers-color-scheme:dark){:root{--page:#14181c;--ink:#e4e8ec;--soft:#9aa5b0;--line:#333b43;--grid:#262d34;
--card:#1a2026;--bad:#ff7262;--bad-page:#4a1d19;--warn-page:#443511;--good:#5fd3ab;--good-page:#12352a;--link:#6cb8f0;
--c0:#4aa8e8;--c1:#f0ad3a;--c2:#2fc79b;--c3:#e08fbc;--c4:#8accf5;--c5:#a78fdc;--c6:#c4c45a;--c7:#a3adb7}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
header,main,footer{max-width:1280px;margin:0 auto;padding:0 20px}
header{padding-top:28px}
h1{font-size:30px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:21px;margin:0 0 10px}
h3{font-size:16px;margin:0 0 6px;overflow-wrap:anywhere}
.wide+h3{margin-top:20px}
p{margin:0 0 12px;max-width:75ch}
a{color:var(--link)}
.lead,footer,.facts dt,figcaption small,.none{color:var(--soft)}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;padding:10px 0;border-bottom:1px solid var(--line)}
section{padding:26px 0 8px}
footer{padding:20px;font-size:13px}
.note{padding:10px 14px;border-radius:6px;border-left:4px solid;margin:0 0 10px;max-width:100ch;overflow-wrap:anywhere}
.note.good{background:var(--good-page);border-color:var(--good)}
.note.bad{background:var(--bad-page);border-color:var(--bad)}
.note p,.note:last-child{margin-bottom:0}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:10px 20px;margin:0}
.facts dt{font-size:13px}
.facts dd{margin:0;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.wide{overflow-x:auto;max-width:100%}
.tall{max-height:640px;overflow-y:auto;border:1px solid var(--line);border-radius:6px}
table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
.tall table{width:100%}
th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid)}
thead th{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--line);z-index:1}
th:first-child{text-align:left;font-weight:500}
.tall th:first-child{position:sticky;left:0;background:var(--card);max-width:min(46vw,230px);overflow:hidden;text-overflow:ellipsis}
.tall thead th:first-child{z-index:2}
.stats td,.stats th{color:var(--soft)}
td.warn,td.bad{font-weight:700}
td.warn,.chip{background:var(--warn-page)}
td.bad{background:var(--bad-page);color:var(--bad)}
.filter input{font:inherit;padding:3px 8px;border:1px solid var(--line);border-radius:5px;background:var(--page);color:inherit}
.chip{font-size:12px;font-weight:400;padding:1px 8px;border-radius:9px;white-space:nowrap}
.legend{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:14px}
.element{border:1px solid var(--line);border-radius:8px;padding:12px 14px;margin:0 0 14px;background:var(--card)}
.element h3 small{font-weight:400;color:var(--soft);margin-left:8px;font-variant-numeric:tabular-nums}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,270px),1fr));gap:10px 18px;margin-bottom:14px}
.element .panels{margin-bottom:0;grid-template-columns:repeat(4,minmax(0,1fr))}
@media(max-width:1080px){.element .panels{grid-template-columns:repeat(2,minmax(0,1fr))}}
@media(max-width:560px){.element .panels{grid-template-columns:minmax(0,1fr)}}
.forest{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,370px),1fr));gap:14px 24px;align-items:start}
figure{margin:0;min-width:0}
figcaption{font-size:14px;font-weight:600;line-height:1.35;min-height:1.4em}
figcaption small{display:block;font-size:12.5px;font-weight:400}
.forest figcaption,.pairs figcaption{display:none}
svg{display:block;width:100%;height:auto;max-width:460px}
.pairs svg{max-width:none;width:auto;min-width:340px}
.pairs.k6 svg,.pairs.k5 svg{min-width:620px;max-width:790px;width:100%}
.pairs.k4 svg{min-width:460px;max-width:560px;width:100%}
.pairs.k3 svg,.pairs.k2 svg{width:100%;max-width:440px}
text{font-size:11.5px;fill:var(--soft);font-variant-numeric:tabular-nums}
text.mid{text-anchor:middle}text.end{text-anchor:end}text.label,text.name{fill:var(--ink)}
path{fill:none}
.grid{stroke:var(--grid)}.axis{stroke:var(--soft)}
.element .grid{stroke:var(--line);stroke-opacity:.6}
.trace{stroke-width:.7;stroke-opacity:.75;stroke-linejoin:round}
.curve{stroke:var(--c0);stroke-width:1.3;stroke-linejoin:round}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}
.c4{stroke:var(--c4)}.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}
.bar{fill:var(--c0);fill-opacity:.75}.bar.pale{fill-opacity:.4}.bar.bad{fill:var(--bad)}.bar.seen{fill:var(--soft);fill-opacity:.45}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}
.f4{fill:var(--c4)}.f5{fill:var(--c5)}.f6{fill:var(--c6)}.f7{fill:var(--c7)}
.band{fill:var(--c0);fill-opacity:.2;stroke:none}.band.inner{fill-opacity:.3}
.noise{fill:var(--soft);fill-opacity:.2}
.expected{stroke:var(--soft);stroke-dasharray:4 3}
.divergence{stroke:var(--bad);stroke-width:1.4}
.interval{stroke:var(--c0);stroke-width:3.4;stroke-linecap:round}
.whisker{stroke:var(--c0);stroke-width:1.3;stroke-linecap:round}
.mean{fill:var(--page);stroke:var(--c0);stroke-width:1.8}
.cell{fill:var(--card);stroke:var(--line)}
.points{stroke:var(--c0);stroke-opacity:.45;stroke-width:2.4;stroke-linecap:round}
.points.bad{stroke:var(--bad);stroke-opacity:.9;stroke-width:3.2}
.area{stroke-width:1.4;fill-opacity:.25}
.area.one{fill:var(--c0);stroke:var(--c0)}.area.two{fill:var(--c1);stroke:var(--c1)}
.replicated{stroke:var(--c0);stroke-opacity:.3;stroke-width:.8}
.observed{stroke:var(--ink);stroke-width:2.2;stroke-linejoin:round}
.seen{fill:var(--ink)}
.t0{color:var(--c0)}.t1{color:var(--c1)}.t2{color:var(--c2)}.t3{color:var(--c3)}
.t4{color:var(--c4)}.t5{color:var(--c5)}.t6{color:var(--c6)}.t7{color:var(--c7)}
.t0,.t1,.t2,.t3,.t4,.t5,.t6,.t7,.t-seen,.diverging{font-weight:600}
.diverging{color:var(--bad)}
@media(max-width:600px){header,main,footer{padding-left:12px;padding-right:12px}h1{font-size:25px}.element{padding:10px}
th,td{padding:4px 7px}}
@media print{.tall{max-height:none}nav,.filter{display:none}.element{break-inside:avoid}}
)css";

const std::string_view filter_script = R"js(
const box=document.getElementById('filter');
if(box){box.closest('p').hidden=false;
box.addEventListener('input',()=>{for(const row of document.querySelectorAll('#table tbody tr'))
row.hidden=!row.firstElementChild.textContent.toLowerCase().includes(box.value.toLowerCase())})}
)js";

}  // namespace adit::report
