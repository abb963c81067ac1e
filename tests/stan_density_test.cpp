// Stan's distributions of numbers on the cpu device: log densities and tails against mpmath with 60 digits,
// derivatives against differences, what lies outside, draws against the distribution itself.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <adit/random.hpp>
#include <adit/transform.hpp>

#include "seeds.hpp"
#include "stan/functions/table.hpp"

namespace adit::stan {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

struct Row {
  const char* name;
  double x;
  std::vector<double> parameters;
  double log_density, log_cdf, log_ccdf;
};
// By mpmath.
const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {"normal", 0.3, {-1.2, 2.5}, -2.0152292650788278, -0.32055397198751887, -1.2937038116140281},
      {"normal", -40, {1, 0.9}, -1038.4678990052011, -1042.3926733801712, 0.0},
      {"normal", 55, {1, 0.9}, -1800.8135780175468, 0.0, -1805.013560680567},
      {"normal", 10.05, {10, 0.1}, 1.2586465597893693, -0.36894641528865279, -1.1759117615936267},
      {"normal", 2, {2, 7}, -2.864848682259986, -0.69314718055994531, -0.69314718055994531},
      {"std_normal", 0.3, {}, -0.96393853320467274, -0.48141016158848121, -0.96210281816885066},
      {"std_normal", -7.9, {}, -32.123938533204676, -34.206228170981716, -1.3945171466592653e-15},
      {"std_normal", -8.1, {}, -33.72393853320467, -35.830502890801472, -2.7479593923982289e-16},
      {"std_normal", 35, {}, -613.41893853320467, 0.0, -616.97510126192251},
      {"std_normal", 0, {}, -0.91893853320467274, -0.69314718055994531, -0.69314718055994531},
      {"cauchy", 0.3, {-1.2, 2.5}, -2.3685053174715159, -0.39746588295515712, -1.1148052995205345},
      {"cauchy", -4000, {1, 0.9}, -17.838689669821392, -9.5443900272310268, -7.1604386260571011e-5},
      {"cauchy", 500000, {1, 0.9}, -27.494813156315124, -5.7295910518912328e-7, -14.372451778910635},
      {"cauchy", 1, {1, 3}, -2.2433421745175099, -0.69314718055994531, -0.69314718055994531},
      {"student_t", 0.3, {4, -1.2, 2.5}, -2.1125642254885121, -0.34308284907798597, -1.2364251346444191},
      {"student_t", -400, {3.5, 1, 0.9}, -25.512384808073781, -20.771171924456313, -9.5322330290240289e-10},
      {"student_t", 50, {1.5, 1, 0.9}, -10.458042807404643, -9.3884808834319322e-4, -6.9713262594137212},
      {"student_t", 1.2, {1, 3, 2}, -2.4312039116870799, -1.3214894691250335, -0.31025180802822044},
      {"student_t", 2, {300.5, 1, 0.5}, -2.2200407739490698, -0.023473365950825496, -3.7636025891620665},
      {"student_t", -3, {40, 0, 1}, -5.0854751845825155, -6.0683154009372288, -0.0023177538094850584},
      {"student_t", 0.01, {0.3, 0, 1}, -1.4728567596202419, -0.68857161059133178, -0.69774378263985571},
      {"double_exponential",
       0.3,
       {-1.2, 2.5},
       -2.2094379124341004,
       -0.32076439846999003,
       -1.2931471805599453},
      {"double_exponential", -40, {1, 0.9}, -46.143342220457673, -46.2487027361155, -8.2118991375733851e-21},
      {"double_exponential", 55, {1, 0.9}, -60.587786664902118, -4.3782553813482667e-27, -60.693147180559944},
      {"double_exponential", 1.5, {1.6, 3}, -1.8250928025613884, -0.72648051389327867, -0.66088920928879723},
      {"logistic", 0.3, {-1.2, 2.5}, -2.3912666328459263, -0.43748795048588563, -1.0374879504858856},
      {"logistic", -700, {1, 0.9}, -778.78352837323104, -778.88888888888887, 0.0},
      {"logistic", 55, {1, 0.9}, -59.894639484342172, -8.7565107626965333e-27, -59.999999999999999},
      {"gumbel", 0.3, {-1.2, 2.5}, -2.0651023679681815, -0.54881163609402644, -0.8618874087582858},
      {"gumbel", -4, {1, 0.9}, -253.00971444428642, -258.6706305154998, 0.0},
      {"gumbel", 55, {1, 0.9}, -59.894639484342172, -8.7565107626965333e-27, -59.999999999999999},
      {"gumbel", 2000, {1, 1.5}, -1333.0721317747748, 0.0, -1332.6666666666667},
      {"skew_normal", 0.3, {-1.2, 2.5, 1.5}, -1.5254966942746294, -0.71990222473961926, -0.66708935515591832},
      {"skew_normal", -2, {1, 0.9, -3}, -5.6759863925424564, -7.0607658315422773, -8.5848906270012165e-4},
      {"skew_normal", 3, {1, 0.9, -0.4}, -4.2660454079488801, -0.0040476374653090072, -5.511645046065153},
      {"skew_normal", 1, {0, 1, 4}, -0.72582302438810492, -0.38171394814607812, -1.1478770422715709},
      {"exp_mod_normal",
       0.3,
       {-1.2, 2.5, 1.5},
       -1.9239494321544135,
       -0.46458767286686615,
       -0.98992154487845002},
      {"exp_mod_normal", -12, {1, 0.9, 3}, -106.98636176629281, -109.77071927198533, -2.1241361280156763e-48},
      {"exp_mod_normal", 30, {1, 0.9, 0.4}, -12.451490731874156, -9.7797649287502629e-6, -11.535200000000001},
      {"exp_mod_normal", 1, {0, 1, 4}, -1.2214318603904589, -0.26443074411595413, -1.4594794827125047},
      {"skew_double_exponential",
       0.3,
       {-1.2, 2.5, 0.3},
       -2.1437912995788781,
       -0.67016027209947181,
       -0.71667494393873234},
      {"skew_double_exponential",
       -12,
       {1, 0.9, 0.8},
       -6.8118515453083151,
       -6.0009213290919861,
       -0.0024795410045088193},
      {"skew_double_exponential",
       30,
       {1, 0.9, 0.4},
       -26.406386437200153,
       -3.8282880326027967e-12,
       -26.288603401543769},
      {"von_mises", 0.3, {-1.2, 2.5}, -2.8518727334361162, -0.034958238676367635, -3.3710293104960074},
      {"von_mises", 1.2, {0.5, 14.9}, -3.0808022062709012, -0.0043704719621559976, -5.4350687153180642},
      {"von_mises", 1.2, {0.5, 15.1}, -3.1210475771001337, -0.0041459517690024401, -5.48769515785577},
      {"von_mises", 0.5, {0.6, 3000}, -11.903300588915775, -17.636286842808524, -2.1910785520137124e-8},
      {"von_mises", 2, {0, 0.001}, -1.838293463245877, -0.20033736289238273, -1.7062494653257569},
      {"von_mises", -2.5, {2.9, 4.0}, -1.7240783581542673, -1.3071563802536334, -0.31551711639813042},
      {"von_mises", 3.0, {0.3, 0.7}, -2.5896681697318902, -0.010480787178668449, -4.5634473070810397},
      {"von_mises", -1.5, {0, 20.0}, -18.012743461299562, -21.006995011434161, -7.5297054101071204e-10},
      {"wiener", 0.8, {1.5, 0.3, 0.5, 0.7}, -0.36078773296382521, -0.7880187794742293, -1.25165841786329052},
      {"wiener", 0.31, {1.5, 0.3, 0.5, 0.7}, -21.901315326674317, -29.8601134769192892, -0.30005847961778849},
      {"wiener", 3.0, {1.2, 0.1, 0.3, -1.1}, -12.048491903780484, -2.37717330659148207, -13.4427410348069242},
      {"wiener",
       0.6,
       {0.8, 0.2, 0.9, 2.0},
       -3.3072288339455597,
       -0.0199942666290864789,
       -5.58070658967531942},
      {"wiener",
       1.4375,
       {1.5, 0.3, 0.4, 0.0},
       -2.2118933972257258,
       -1.04967613892945783,
       -2.99675476970447707},
      {"wiener", 5.0, {2.0, 0.0, 0.05, 0.4}, -7.9051853726860587, -2.34286364235567207, -8.17803334816122538},
      {"wiener", 0.8, {1.5, 0.3, 0.5, 0.7, 0.5}, -0.40190147301423916, none, none},
      {"wiener", 3.0, {1.2, 0.1, 0.3, -1.1, 1.3}, -10.610419789517712, none, none},
      {"wiener", 0.31, {1.5, 0.3, 0.5, 0.7, 0.2}, -21.89047872131113, none, none},
      {"wiener", 0.8, {1.5, 0.3, 0.5, 0.7, 0.5, 0.2, 0.2}, -0.14881970084653369, none, none},
      {"wiener", 3, {2, 0.1, 0.5, -1, 1, 0.9, 0.5}, -4.9715688589582009, none, none},
      {"wiener", 1.0, {1.0, 0.3, 0.5, 2, 1, 0.2, 0.05}, -2.5859990484910454, none, none},
      {"wiener", 1.2, {0.5, 0.1, 0.2, 0.1, 0.1, 0.35, 1.0}, -2.9727270914707049, none, none},
      {"gamma", 0.3, {2.5, 1.5}, -1.5269793066914122, -3.5139732703581581, -0.030230740379340842},
      {"gamma", 0.001, {0.1, 2}, 4.0315818174057119, -0.57177010808271951, -0.8313185394896552},
      {"gamma", 40, {3, 2}, -71.235946730652237, -5.9217174035208072e-32, -71.904096467038898},
      {"gamma", 500, {450, 1.1}, -13.777295067431369, -4.9448136593834021e-6, -12.217173748637692},
      {"gamma", 90, {100, 1}, -3.6530480068791572, -1.8437625574400939, -0.17223775665386771},
      {"gamma", 5000, {5100, 1}, -6.1610493656504981, -2.5253412299057485, -0.083415304242136508},
      {"gamma", 5200, {5100, 1}, -6.1746329970691685, -0.084875794151311988, -2.5087040890056311},
      {"gamma", 2, {2, 0.7}, -1.4202027073175195, -0.89607817258181264, -0.52453126264610001},
      {"gamma", 150, {150, 0.97}, -3.4936928576916034, -1.0065694734881515, -0.45487163836716744},
      {"inv_gamma", 0.3, {2.5, 1.5}, -0.057115285061732286, -2.5871354590744855, -0.078215893972958956},
      {"inv_gamma", 0.01, {0.1, 2}, -197.11771072909131, -207.02566610558056, 0.0},
      {"inv_gamma", 40, {3, 2}, -13.419223455335855, -2.0067694979241921e-5, -10.816409284648569},
      {"inv_gamma", 2, {250, 510}, 1.0989682360558771, -0.99766397356224481, -0.4600371746677163},
      {"chi_square", 0.3, {2.5}, -1.2191553403596025, -2.5787482287708195, -0.078901350662441964},
      {"chi_square", 40, {3}, -19.074498806147705, -1.0655090391021336e-8, -18.357228093322351},
      {"chi_square", 200, {180}, -4.4858305774988753, -0.15822952416292476, -1.9217804042197871},
      {"chi_square", 2, {2}, -1.6931471805599453, -0.45867514538708189, -1.0},
      {"inv_chi_square", 0.3, {2.5}, 0.27411000378857086, -1.3337923609737136, -0.30581368448549056},
      {"inv_chi_square", 40, {3}, -10.153637168489513, -0.0010440002932523194, -6.8652174633613044},
      {"inv_chi_square", 0.02, {80}, 1.0352957395127166, -0.0034495114589447679, -5.6712469240013924},
      {"scaled_inv_chi_square",
       0.3,
       {2.5, 1.2},
       -2.4580560227171819,
       -5.4169421018110094,
       -0.0044505943498410224},
      {"scaled_inv_chi_square", 40, {3, 2}, -6.563777193807513, -0.04079232797398062, -3.2195880861379864},
      {"scaled_inv_chi_square",
       0.02,
       {8, 0.3},
       -4.3182494322152489,
       -10.94987747973094,
       -1.7560320827184969e-5},
      {"exponential", 0.3, {2.5}, 0.16629073187415509, -0.63935346504035396, -0.74999999999999997},
      {"exponential", 1e-09, {3}, 1.0986122856681097, -19.624653549778301, -3.0000000000000002e-9},
      {"exponential", 300, {4}, -1198.6137056388801, 0.0, -1200.0},
      {"lognormal", 0.3, {-1.2, 2.5}, -0.63125772340682875, -0.6944159202300944, -0.6918800485506591},
      {"lognormal", 1e-09, {0, 0.7}, -418.05710688369738, -442.52611737900396, 0.0},
      {"lognormal", 300, {1, 0.4}, -74.848835178745507, -3.1569825620716354e-32, -72.533106289824524},
      {"weibull", 0.3, {1.2, 2.5}, -1.2365486091131671, -2.5833226847542387, -0.078526726792948484},
      {"weibull", 1e-09, {3, 0.7}, -39.277894553408515, -61.099772679023036, -2.9154518950437329e-27},
      {"weibull", 3, {2, 0.4}, -52.625659067023629, -3.7233631217505337e-25, -56.249999999999994},
      {"frechet", 0.3, {1.2, 2.5}, -8.8039071939049893, -12.734517798464989, -2.9476087054327903e-6},
      {"frechet", 1000000000, {3, 0.7}, -82.864475890933732, -3.4299999999999993e-28, -63.239822342655431},
      {"frechet", 0.3, {2, 4}, -170.70012346200026, -177.77777777777779, 0.0},
      {"rayleigh", 0.3, {1.2}, -1.5998659179138452, -3.4813202130266917, -0.03125},
      {"rayleigh", 1e-09, {3}, -22.92049041428263, -44.336903431788987, -5.5555555555555562e-20},
      {"rayleigh", 30, {2}, -110.48509697945774, -1.3863432936409778e-49, -112.5},
      {"pareto", 1.3, {1.2, 2.5}, 0.45381969822282274, -1.7072897033130347, -0.20010676918384124},
      {"pareto", 1000000000, {3, 0.7}, -34.817198264679954, -1.0813968822224134e-6, -13.73725748379481},
      {"pareto", 3.01, {3, 4}, 0.27104312198840794, -4.3258006674120637, -0.013311160370698393},
      {"pareto_type_2", 1.3, {-1.2, 2.5, 1.5}, -2.243693575165854, -0.43626466823813063, -1.039720770839918},
      {"pareto_type_2",
       1000000000,
       {3, 0.7, 2},
       -62.190000211256753,
       -4.9000000225399995e-19,
       -42.159881557170287},
      {"pareto_type_2", 3.01, {3, 4, 0.5}, -2.0831868619777166, -6.6864845826422115, -0.0012484400992935729},
      {"loglogistic", 1.3, {1.2, 2.5}, -0.74236191564855532, -0.59809080693568903, -0.79819757611953027},
      {"loglogistic", 1000000000, {3, 0.7}, -34.817200427471379, -1.0813957128044611e-6, -13.737258565190523},
      {"loglogistic", 1e-05, {3, 4}, -37.546931188463233, -50.446151014553352, -1.2345679012345683e-22},
      {"beta", 0.3, {2.5, 1.5}, -0.35643784206788916, -2.4197514331761908, -0.093150608844943309},
      {"beta", 0.001, {0.1, 2}, 4.008704337560619, -0.59555626131727983, -0.80130234932920879},
      {"beta", 0.99, {0.5, 0.02}, 0.57898238510318082, -2.1868176042705083, -0.11909155563966114},
      {"beta", 0.5, {300, 250}, 0.64869064355783395, -4.1119177646200764, -0.016511912839531394},
      {"beta", 0.45, {300, 310}, 0.84647424558049225, -3.9501276271523893, -0.019439982459396183},
      {"beta", 0.2, {30, 2}, -40.061658425755817, -45.064261548154809, -2.6843545600000044e-20},
      {"beta", 0.9, {5000, 600}, 3.0757922395249497, -0.040704445205230097, -3.22170116175743},
      {"beta", 0.5, {1000, 1.5}, -682.31781693851003, -689.91822027101715, 0.0},
      {"beta", 0.001, {0.7, 900}, 5.6735692135787435, -0.31333806763406503, -1.3130540943151538},
      {"beta_proportion", 0.3, {0.25, 15}, 1.0422608398164702, -0.35770870954177222, -1.2015648324319606},
      {"beta_proportion", 0.99, {0.5, 0.2}, 1.1723369886198054, -0.38611589296366159, -1.1384714644233141},
      {"uniform", 0.3, {-1.2, 2.5}, -1.3083328196501787, -0.9028677115420144, -0.51987545928590857},
      {"uniform", 2.9, {-7, 3}, -2.3025850929940457, -0.01005033585350145, -4.6051701859880905},
      {"bernoulli", 0, {0.3}, -0.35667494393873236, -0.35667494393873236, -1.203972804325936},
      {"bernoulli", 1, {0.3}, -1.203972804325936, 0.0, -inf},
      {"bernoulli", 1, {1e-09}, -20.723265836946411, 0.0, -inf},
      {"bernoulli", 0, {1e-09}, -1.0000000005000001e-9, -1.0000000005000001e-9, -20.723265836946411},
      {"bernoulli_logit", 0, {0.3}, -0.85435524446852711, none, none},
      {"bernoulli_logit", 1, {0.3}, -0.55435524446852712, none, none},
      {"bernoulli_logit", 1, {-800}, -800.0, none, none},
      {"bernoulli_logit", 0, {-80}, -1.8048513878454152e-35, none, none},
      {"binomial", 3, {10, 0.3}, -1.3211512777668886, -0.43138199027079231, -1.0487105094288509},
      {"binomial", 0, {5, 0.01}, -0.050251679267507207, -0.050251679267507207, -3.0157319382207585},
      {"binomial", 5, {5, 0.99}, -0.050251679267507251, 0.0, -inf},
      {"binomial", 400, {1000, 0.5}, -23.795035434399946, -22.715259239806746, -1.3642320781260657e-10},
      {"binomial", 2, {800, 0.01}, -4.5556828901960763, -4.310013974326367, -0.013524405745877522},
      {"binomial_logit", 3, {10, 0.3}, -2.8560607019032252, none, none},
      {"binomial_logit", 0, {5, -90}, -4.0970063119952577e-39, none, none},
      {"binomial_logit", 5, {5, -200}, -1000.0, none, none},
      {"binomial_logit", 400, {100000, -5}, -67.664425704738526, none, none},
      {"beta_binomial", 3, {10, 0.3, 2}, -2.8013987235286561, -0.15005454992074682, -1.9708456537946512},
      {"beta_binomial",
       0,
       {5, 0.001, 4},
       -8.8444066509262252e-4,
       -8.8444066509262252e-4,
       -7.0309973173470862},
      {"beta_binomial",
       50,
       {1000, 10000, 200000},
       -2.9147006221875911,
       -0.39765960685756605,
       -1.114408481375626},
      {"hypergeometric", 3, {10, 8, 20}, -1.106242418773169, none, none},
      {"hypergeometric", 0, {5, 7, 9}, -3.545778610473263, none, none},
      {"hypergeometric", 500, {2000, 3000, 9000}, -3.7914273418442004, none, none},
      {"discrete_range", 3, {2, 10}, -2.1972245773362194, -1.5040773967762741, -0.25131442828090608},
      {"discrete_range", -5, {-5, -4}, -0.69314718055994531, -0.69314718055994531, -0.69314718055994531},
      {"poisson", 3, {2.5}, -1.5428872736055898, -0.27763124086275529, -1.4170675689617414},
      {"poisson", 0, {1e-05}, -1.0000000000000001e-5, -1.0000000000000001e-5, -11.512930464966062},
      {"poisson", 1000, {950}, -5.6661938935768303, -0.052972253584849173, -2.9643562301542651},
      {"poisson", 40, {3}, -69.376148168033008, -5.8449988010962465e-32, -71.917136586001577},
      {"poisson_log", 3, {0.5}, -1.9404807399281831, none, none},
      {"poisson_log", 0, {-30}, -9.3576229688401746e-14, none, none},
      {"poisson_log", 1000, {6.9}, -4.4028940931892231, none, none},
      {"neg_binomial", 3, {2.5, 0.4}, -2.2599525031843166, -1.1291527235962953, -0.39053768483047868},
      {"neg_binomial", 0, {0.1, 20}, -0.0048790164169432006, -0.0048790164169432006, -5.325250149678833},
      {"neg_binomial", 200, {300, 1.4}, -4.1109019916694575, -1.4309576550296544, -0.27322686296198786},
      {"neg_binomial_2", 3, {2.5, 0.4}, -2.7337698300285504, none, none},
      {"neg_binomial_2", 0, {0.1, 20}, -0.099750830220781478, none, none},
      {"neg_binomial_2", 200, {300, 1.4}, -6.2115770125837755, none, none},
      {"neg_binomial_2", 60, {50, 1000000000}, -3.9067930779828294, none, none},
      {"neg_binomial_2_log", 3, {0.9, 0.4}, -2.7349471856661978, none, none},
      {"neg_binomial_2_log", 0, {-30, 20}, -9.3576229688401527e-14, none, none},
      {"neg_binomial_2_log", 200, {5.5, 1.4}, -6.1376232513751033, none, none},
      {"neg_binomial_2_log", 60, {4, 1000000000}, -3.2263234722258387, none, none},
      {"beta_neg_binomial", 3, {2, 0.4, 3}, -3.3487364886032609, -1.8763561785702414, -0.16622830790593507},
      {"beta_neg_binomial", 40, {6, 7, 11}, -6.7071231052075624, -0.011691106830889668, -4.4547666844642766},
      {"yule_simon", 3, {1.7}, -2.6253716697543593, -0.13672203368752467, -2.05738763214842},
      {"yule_simon", 1, {0.4}, -1.252762968495368, -1.252762968495368, -0.33647223662121295},
      {"yule_simon", 60, {3}, -13.585115779935871, -2.5182256583343083e-5, -10.58938350638188},
  };
  return all;
}

// "wiener", and "wiener 5" where there is another number of parameters.
std::string key_of(const std::string& name, size_t parameters) {
  const UnivariateDensity* first = univariate_named(name);
  const bool is_first = !first || static_cast<size_t>(first->parameters) == parameters;
  return is_first ? name : name + " " + std::to_string(parameters);
}
const UnivariateDensity& density(const std::string& name) {
  for (const UnivariateDensity& each : univariate_densities())
    if (key_of(each.name, static_cast<size_t>(each.parameters)) == name) return each;
  ADD_FAILURE() << name << " is not there";
  return univariate_densities()[0];
}

// The cases of one distribution, along one axis.
struct Batch {
  std::vector<std::vector<double>> columns;  // x, then the parameters
  std::vector<double> want[3];
};
std::map<std::string, Batch> batches() {
  std::map<std::string, Batch> all;
  for (const Row& row : rows()) {
    Batch& batch = all[key_of(row.name, row.parameters.size())];
    batch.columns.resize(1 + row.parameters.size());
    batch.columns[0].push_back(row.x);
    for (size_t i = 0; i < row.parameters.size(); ++i) batch.columns[i + 1].push_back(row.parameters[i]);
    for (int i = 0; i < 3; ++i)
      batch.want[i].push_back(i == 0 ? row.log_density : i == 1 ? row.log_cdf : row.log_ccdf);
  }
  return all;
}

using Formula = Tensor (*)(const Tensor& x, const Tensor* p);
Tensor values_of(Formula f, const Tensors& columns) { return f(columns[0], columns.data() + 1); }
Tensors tensors_of(const std::vector<std::vector<double>>& columns) {
  Tensors made;
  for (const auto& column : columns) made.push_back(tensor(column));
  return made;
}

void expect_near(double got, double want, double tolerance, const std::string& what) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << " is " << got;
    return;
  }
  if (got == want) return;
  EXPECT_LE(std::fabs(got - want), tolerance * std::max(1.0, std::fabs(want)))
      << what << ": " << got << ", not " << want;
}

const char* const kinds[3] = {"log density", "log cdf", "log ccdf"};
Formula formula_of(const UnivariateDensity& of, int kind) {
  return kind == 0 ? of.log_density : kind == 1 ? of.log_cdf : of.log_ccdf;
}

class StanDensity : public testing::Test {
 protected:
  static void SetUpTestSuite() { set_default_device(Device::open("cpu")); }
};

TEST_F(StanDensity, EveryOneHasCases) {
  const auto all = batches();
  for (const UnivariateDensity& each : univariate_densities()) {
    ASSERT_TRUE(all.contains(key_of(each.name, static_cast<size_t>(each.parameters)))) << each.name;
    EXPECT_EQ(each.log_cdf == nullptr, each.log_ccdf == nullptr) << each.name;
    EXPECT_EQ(each.draw == nullptr, std::string(each.name) == "wiener") << each.name;
  }
}

TEST_F(StanDensity, Values) {
  for (const auto& [name, batch] : batches()) {
    const Tensors columns = tensors_of(batch.columns);
    for (int kind = 0; kind < 3; ++kind) {
      const Formula f = formula_of(density(name), kind);
      if (!f || std::isnan(batch.want[kind][0])) continue;
      const auto got = values_of(f, columns).to_vector<double>();
      for (size_t i = 0; i < got.size(); ++i)
        expect_near(got[i], batch.want[kind][i], 2e-12,
                    name + " " + kinds[kind] + " at " + std::to_string(batch.columns[0][i]));
    }
  }
}

// The mean over starts and delays is a sum, which is rougher where they come near the ends; beside mpmath's.
TEST_F(StanDensity, MeansOfPassages) {
  const struct {
    double y;
    std::vector<double> p;
    double want, tolerance;
  } cases[] = {{0.45, {1.5, 0.3, 0.5, 0.7, 0.5, 0.2, 0.2}, -0.71699952713806352, 1e-8},
               {0.35, {0.8, 0.3, 0.5, 0, 0.2, 0.3, 0.3}, -1.2301726315016595, 1e-8},
               {1.0, {1.0, 0.2, 0.5, 0.5, 0.5, 0.95, 0.9}, -0.44998232732893595, 2e-3},
               // Nothing varies: the densities of four and five parameters.
               {0.8, {1.5, 0.3, 0.5, 0.7, 0, 0, 0}, -0.36078773296382521, 1e-12},
               {0.8, {1.5, 0.3, 0.5, 0.7, 0.5, 0, 0}, -0.40190147301423916, 1e-12},
               // Before the delay; a start that reaches a bound.
               {0.3, {1.5, 0.3, 0.5, 0.7, 0.5, 0.2, 0.2}, -inf, 0},
               {0.8, {1.5, 0.3, 0.5, 0.7, 0.5, 1, 0.2}, none, 0}};
  for (const auto& c : cases) {
    Tensors p;
    for (const double x : c.p) p.push_back(tensor(x));
    expect_near(density("wiener 7").log_density(tensor(c.y), p.data()).item<double>(), c.want, c.tolerance,
                "wiener at " + std::to_string(c.y));
  }
}

// By rules of integration over starts and times, with the drift's part in closed form.
TEST_F(StanDensity, ChancesOfPassagesThatVary) {
  const struct {
    double y;
    std::vector<double> p;
    double until, later, tolerance;
  } cases[] = {{0.45, {1.5, 0.3, 0.5, 0.7, 0.5, 0.2, 0.2}, -3.8762324448807957, -0.3630017011813023, 1e-6},
               {0.8, {1.5, 0.3, 0.5, 0.7, 0.5, 0.2, 0.2}, -0.9675705945037504, -1.0897251332876712, 1e-6},
               {0.35, {0.8, 0.3, 0.5, 0, 0.2, 0.3, 0.3}, -5.344782364480647, -0.7027390152018469, 1e-6},
               {3, {2, 0.1, 0.5, -1, 1, 0.9, 0.5}, -1.3075544748752608, -5.276287812087761, 1e-6},
               {1.0, {1.0, 0.3, 0.5, 2, 1, 0.2, 0.05}, -0.18717991502365366, -4.4032155412394145, 1e-6},
               {1.2, {0.5, 0.1, 0.2, 0.1, 0.1, 0.35, 1.0}, -1.5846466849446734, -5.954468128034208, 1e-6},
               {0.8, {1.5, 0.3, 0.5, 0.7, 1.5, 0, 0}, -0.7547363496024269, -1.747741403911372, 1e-6},
               // Nothing varies.
               {0.8, {1.5, 0.3, 0.5, 0.7, 0, 0, 0}, -0.7880187794742292, -1.2516584178632906, 1e-12},
               // Outside.
               {0.3, {1.5, 0.3, 0.5, 0.7, 0.5, 0.2, 0.2}, -inf, -inf, 0},
               {0.8, {1.5, 0.3, 0.5, 0.7, 0.5, 1, 0.2}, none, none, 0}};
  const UnivariateDensity& wiener = density("wiener 7");
  for (const auto& c : cases) {
    Tensors p;
    for (const double x : c.p) p.push_back(tensor(x));
    const std::string what = "wiener at " + std::to_string(c.y);
    expect_near(wiener.log_cdf(tensor(c.y), p.data()).item<double>(), c.until, c.tolerance, what + ", cdf");
    expect_near(wiener.log_ccdf(tensor(c.y), p.data()).item<double>(), c.later, c.tolerance, what + ", ccdf");
  }
}

// Both together are the chance of the bound, over six orders of times and all kinds of drifts.
TEST_F(StanDensity, ChancesOfPassagesAddUp) {
  const UnivariateDensity& wiener = density("wiener");
  for (const double w : {0.02, 0.3, 0.5, 0.9, 0.98})
    for (const double v : {-30.0, -3.0, -1e-4, 0.0, 1e-9, 0.4, 8.0}) {
      const double chance = v == 0 ? w : std::expm1(-2 * v * w) / std::expm1(-2 * v);
      double last = 0;
      for (double t = 1e-4; t < 100; t *= 1.5) {
        const Tensors p{tensor(1.0), tensor(0.0), tensor(w), tensor(v)};
        const double until = std::exp(wiener.log_cdf(tensor(t), p.data()).item<double>()),
                     later = std::exp(wiener.log_ccdf(tensor(t), p.data()).item<double>());
        EXPECT_NEAR((until + later) / chance, 1, 1e-10) << w << " " << v << " " << t;
        EXPECT_GE(until, last * (1 - 1e-11)) << w << " " << v << " " << t;
        last = until;
      }
    }
}

// Central differences of order six.
std::vector<double> differences(Formula f, const std::vector<std::vector<double>>& columns, size_t argument,
                                const std::vector<double>& steps) {
  constexpr double weights[] = {45, -9, 1};
  std::vector<double> slopes(steps.size());
  for (int j = 1; j <= 3; ++j)
    for (const int side : {1, -1}) {
      auto moved = columns;
      for (size_t i = 0; i < steps.size(); ++i) moved[argument][i] += side * j * steps[i];
      const auto values = values_of(f, tensors_of(moved)).to_vector<double>();
      for (size_t i = 0; i < steps.size(); ++i)
        slopes[i] += side * weights[j - 1] * values[i] / (60 * steps[i]);
    }
  return slopes;
}

bool is_whole_parameter(const std::string& name, size_t argument) {
  if (name == "hypergeometric" || name == "discrete_range") return true;
  return (name == "binomial" || name == "binomial_logit" || name == "beta_binomial") && argument == 1;
}

TEST_F(StanDensity, Derivatives) {
  for (const auto& [name, batch] : batches()) {
    if (!test::is_its_turn(std::hash<std::string>()(name), 6)) continue;
    const UnivariateDensity& of = density(name);
    for (int kind = 0; kind < 3; ++kind) {
      const Formula f = formula_of(of, kind);
      if (!f) continue;
      const auto total = [f](const Tensors& columns) -> Tensor { return sum(values_of(f, columns)); };
      const Tensors gradients = value_and_grad(total)(tensors_of(batch.columns)).grads;
      for (size_t a = of.is_discrete ? 1 : 0; a < batch.columns.size(); ++a) {
        if (is_whole_parameter(name, a)) continue;
        std::vector<double> steps;
        for (const double v : batch.columns[a]) steps.push_back(v == 0 ? 1e-3 : 1e-4 * std::fabs(v));
        // A location beside which x lies: no further than a part of the distance.
        if (name == "pareto" || name == "pareto_type_2")
          for (double& step : steps) step = std::min(step, 1e-5);
        if (name == "bernoulli_logit" || name == "skew_double_exponential")
          for (double& step : steps) step = std::min(step, 1e-3);
        const auto got = gradients[a].to_vector<double>(), want = differences(f, batch.columns, a, steps);
        for (size_t i = 0; i < got.size(); ++i) {
          const double value = std::fabs(batch.want[kind][i]);
          const double noise = 1e-12 * (std::isfinite(value) ? std::max(1.0, value) : 1.0) / steps[i];
          if (!std::isfinite(want[i])) continue;
          EXPECT_LE(std::fabs(got[i] - want[i]), 1e-8 * std::fabs(want[i]) + noise)
              << name << " " << kinds[kind] << ", argument " << a << " at " << batch.columns[0][i] << ": "
              << got[i] << ", not " << want[i];
        }
      }
    }
  }
}

// Outside of the support the density is 0; parameters outside of their domain make NaN.
TEST_F(StanDensity, Outside) {
  struct Point {
    const char* name;
    double x;
    std::vector<double> parameters;
    double density, cdf, ccdf;
  };
  const std::vector<Point> points{
      {"gamma", -1, {2, 1}, -inf, -inf, 0},
      {"gamma", 0, {2, 1}, -inf, -inf, 0},
      {"gamma", 0, {1, 3}, std::log(3.0), -inf, 0},
      {"gamma", inf, {2, 1}, -inf, 0, -inf},
      {"gamma", 1, {-2, 1}, none, none, none},
      {"gamma", 1, {2, -1}, none, none, none},
      {"inv_gamma", 0, {2, 1}, -inf, -inf, 0},
      {"exponential", -1, {2}, -inf, -inf, 0},
      {"exponential", 0, {2}, std::log(2.0), -inf, 0},
      {"exponential", 1, {-2}, none, none, none},
      {"lognormal", 0, {0, 1}, -inf, -inf, 0},
      {"weibull", -1, {2, 1}, -inf, -inf, 0},
      {"weibull", 0, {1, 2}, -std::log(2.0), -inf, 0},
      {"frechet", 0, {2, 1}, -inf, -inf, 0},
      {"rayleigh", -2, {1}, -inf, -inf, 0},
      {"pareto", 1, {2, 1}, -inf, -inf, 0},
      {"pareto_type_2", 1, {2, 1, 1}, -inf, -inf, 0},
      {"loglogistic", -1, {2, 1}, -inf, -inf, 0},
      {"beta", -0.5, {2, 3}, -inf, -inf, 0},
      {"beta", 1.5, {2, 3}, -inf, 0, -inf},
      {"beta", 0, {1, 3}, std::log(3.0), -inf, 0},
      {"beta", 0.5, {-1, 3}, none, none, none},
      {"uniform", 3, {0, 2}, -inf, 0, -inf},
      {"uniform", -3, {0, 2}, -inf, -inf, 0},
      {"uniform", 1, {2, 0}, none, none, none},
      {"normal", 1, {0, -1}, none, none, none},
      {"normal", 1, {0, 0}, none, none, none},
      {"normal", inf, {0, 1}, -inf, 0, -inf},
      {"cauchy", 1, {0, -1}, none, none, none},
      {"student_t", 1, {-2, 0, 1}, none, none, none},
      {"student_t", 1, {3, 0, -1}, none, none, none},
      {"student_t", 0, {3, 0, 1}, -1.0008888496236, std::log(0.5), std::log(0.5)},
      {"skew_double_exponential", 1, {0, 1, 1.2}, none, none, none},
      {"chi_square", -1, {3}, -inf, -inf, 0},
      {"bernoulli", 2, {0.3}, -inf, 0, -inf},
      {"bernoulli", -1, {0.3}, -inf, -inf, 0},
      {"bernoulli", 1, {1.3}, none, none, none},
      {"bernoulli", 1, {0}, -inf, 0, -inf},
      {"bernoulli", 0, {0}, 0, 0, -inf},
      {"binomial", 6, {5, 0.3}, -inf, 0, -inf},
      {"binomial", -1, {5, 0.3}, -inf, -inf, 0},
      {"binomial", 5, {5, 1}, 0, 0, -inf},
      {"binomial", 0, {5, 0}, 0, 0, -inf},
      {"binomial", 1, {5, 1.5}, none, none, none},
      {"poisson", -1, {2}, -inf, -inf, 0},
      {"poisson", 0, {0}, 0, 0, -inf},
      {"poisson", 1.5, {2}, -inf, std::log(3 * std::exp(-2.0)), std::log(1 - 3 * std::exp(-2.0))},
      {"poisson", 1, {-2}, none, none, none},
      {"neg_binomial_2", -1, {2, 1}, -inf, -inf, 0},
      {"neg_binomial_2", 0, {0, 1}, 0, 0, -inf},
      {"neg_binomial_2", 1, {2, -1}, none, none, none},
      {"neg_binomial", 1, {2, -1}, none, none, none},
      {"discrete_range", 5, {1, 4}, -inf, 0, -inf},
      {"von_mises", 4, {0, 1}, -2.727435045780136, 0, -inf},
      {"von_mises", -4, {0, 1}, -2.727435045780136, -inf, 0},
      {"von_mises", 1, {0, -1}, none, none, none},
      {"discrete_range", 0, {1, 4}, -inf, -inf, 0}};
  for (const Point& point : points) {
    std::vector<std::vector<double>> columns{{point.x}};
    for (const double p : point.parameters) columns.push_back({p});
    const double want[] = {point.density, point.cdf, point.ccdf};
    for (int kind = 0; kind < 3; ++kind)
      expect_near(
          values_of(formula_of(density(point.name), kind), tensors_of(columns)).to_vector<double>()[0],
          want[kind], 1e-12, std::string(point.name) + " " + kinds[kind] + " at " + std::to_string(point.x));
  }
}

// Parameters of one axis and x of another: all pairs.
TEST_F(StanDensity, Broadcasts) {
  const Tensor x = tensor(std::vector<double>{0, 1, 2}, {3, 1}),
               p = tensor(std::vector<double>{0.25, 0.5}, {2});
  for (const UnivariateDensity& each : univariate_densities()) {
    if (each.parameters == 0) continue;
    const std::vector<Tensor> parameters(static_cast<size_t>(each.parameters), p);
    for (int kind = 0; kind < 3; ++kind) {
      const Formula f = formula_of(each, kind);
      EXPECT_TRUE(!f || f(x, parameters.data()).shape() == Shape({3, 2})) << each.name;
    }
  }
}

// Draws at the first case's parameters. Continuous ones: their cdf is uniform. Discrete ones: frequencies.
TEST_F(StanDensity, Draws) {
  constexpr int64_t count = 20000;
  for (const auto& [name, batch] : batches()) {
    const UnivariateDensity& of = density(name);
    if (!of.draw) continue;  // EveryOneHasCases knows which have none
    if (!test::is_its_turn(std::hash<std::string>()(name) + 1, 3)) continue;
    Tensors parameters;
    for (size_t i = 1; i < batch.columns.size(); ++i) parameters.push_back(tensor(batch.columns[i][0]));
    const Tensor x = of.draw(random::key(7), parameters.data(), {count});
    ASSERT_EQ(x.shape(), Shape{count}) << name;
    ASSERT_EQ(x.dtype(), DType::f64) << name;
    const double error = 1 / std::sqrt(static_cast<double>(count));
    if (of.is_discrete) {
      const auto values = x.to_vector<double>();
      std::vector<double> places, frequencies(30);
      for (int k = 0; k < 30; ++k) places.push_back(k);
      for (const double v : values) {
        EXPECT_EQ(std::floor(v), v) << name;
        if (v >= 0 && v < 30) frequencies[static_cast<size_t>(v)] += 1.0 / count;
      }
      const auto logs = of.log_density(tensor(places), parameters.data()).to_vector<double>();
      for (size_t k = 0; k < 30; ++k)
        EXPECT_NEAR(frequencies[k], std::exp(logs[k]), 5 * error * std::exp(0.5 * logs[k]) + 5.0 / count)
            << name << " " << k;
    } else if (of.log_cdf) {
      const Tensor u = exp(of.log_cdf(x, parameters.data()));
      EXPECT_NEAR(mean(u).item<double>(), 0.5, 5 * error * 0.2887) << name;
      EXPECT_NEAR(mean(square(u)).item<double>(), 1.0 / 3, 5 * error * 0.2981) << name;
    } else {  // von_mises(-1.2, 2.5): the mean cosine is I_1 / I_0
      ASSERT_EQ(name, "von_mises");
      EXPECT_NEAR(mean(cos(x - parameters[0])).item<double>(), 0.7649967, 5 * error * 0.3);
      EXPECT_NEAR(mean(sin(x - parameters[0])).item<double>(), 0, 5 * error * 0.6);
    }
  }
}

}  // namespace
}  // namespace adit::stan
