// Sine and cosine of an eighth of a turn to both sides, as polynomials: what transforms need of them.
#pragma once

namespace adit::kernel::eighth_turn {

// Coefficients of z^0, z^1, ... with z = x^2, smallest error:
// (sin x - x) / x^3 and (cos x - 1 + z / 2) / z^2.
inline constexpr double sine_f32[] = {-0.166666548734784006, 0.0083321735431999934, -0.000195166558108692267};
inline constexpr double cosine_f32[] = {0.0416666467478472842, -0.00138873614526453093,
                                        0.000024437730296466862};
inline constexpr double sine_f64[] = {-0.166666666666666317,    0.00833333333332231537,
                                      -0.000198412698297253357, 2.75573136620901267e-6,
                                      -2.50507532680089628e-8,  1.58965050737033462e-10};
inline constexpr double cosine_f64[] = {0.0416666666666665987,    -0.00138888888888739909,
                                        0.0000248015872893949739, -2.75573143260349471e-7,
                                        2.08757195583241402e-9,   -1.13594486229573631e-11};

}  // namespace adit::kernel::eighth_turn
