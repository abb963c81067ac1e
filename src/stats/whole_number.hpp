// What the distributions of whole numbers share.
#pragma once

#include "stats/distribution/common.hpp"

namespace adit::stats {

// Numbers along the last axis, at least one; throws where there is no such axis.
Tensor of_classes(std::string_view where, std::string_view argument, const Tensor& x);
// x's shape without its last axes.
Shape leading(const Tensor& x, int last_axes);

// --- Formulas ----------------------------------------------------------------------------------------------
Tensor is_whole(const Tensor& x);                           // 0, 1, 2, ...
Tensor is_whole_below(const Tensor& x, const Tensor& end);  // 0 .. end - 1
// log x; at 0 it is -infinity with the slope 0, so that a zero weight on it leaves no NaN behind.
Tensor log_from_zero(const Tensor& x);
// log(1 - x), and the same at 1.
Tensor log1m_to_one(const Tensor& x);
// count * logarithm, and 0 where the count is 0, however low the logarithm.
Tensor times_log(const Tensor& count, const Tensor& logarithm);
// log of n choose k.
Tensor log_choose(const Tensor& n, const Tensor& k);
// rows [..., K] at the class x [...], which broadcast. Few classes are compared with, which leaves no scatter
// in the gradient; many are looked up.
Tensor at_class(const Tensor& rows, const Tensor& x);

// --- Draws -------------------------------------------------------------------------------------------------
// Of a distribution of whole numbers whose mass p is log-concave, by its mode and log p (-infinity outside of
// the support); exact, whatever the parameters.
Tensor draw_log_concave(const Tensor& key, const Tensor& mode,
                        const std::function<Tensor(const Tensor& x)>& log_mass, const Shape& shape);
Tensor draw_poisson(const Tensor& key, const Tensor& rate, const Shape& shape);
Tensor draw_binomial(const Tensor& key, const Tensor& count, const Tensor& p, const Shape& shape);
// Classes 0 .. K - 1 by their logarithms [..., K], up to a constant.
Tensor draw_class(const Tensor& key, const Tensor& logits, const Shape& shape);

}  // namespace adit::stats
