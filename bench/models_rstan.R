#!/usr/bin/env Rscript
# The models of models_bench in rstan, a line of JSON each.
#
#   models_bench --data FOLDER
#   Rscript bench/models_rstan.R FOLDER [--chains N] [--warmup N] [--draws N] [--seed N] [NAME]...
#   models_bench --check FOLDER
#   Rscript bench/models_rstan.R FOLDER --check [NAME]...
#
# Chains run two at a time, a process each. Seconds are those that Stan tells of its chains
# (get_elapsed_time; processor time in this version), added up and divided by the two cores, which leaves out
# rstan's own time to start processes and to collect draws. Leapfrogs are those of warm-up too. Seconds until
# the first draw are those of the compiler, and null where a compiled program lay in FOLDER.
suppressPackageStartupMessages({
  library(rstan)
  library(jsonlite)
})
rstan_options(auto_write = TRUE)
# No instructions beyond those that rstan's own library was built with: Eigen would align memory by wider
# registers, one would free what the other allocated, and chains crash.
flags <- file.path(tempdir(), "Makevars")
writeLines("CXX14FLAGS = -O3 -mtune=native -w", flags)
Sys.setenv(R_MAKEVARS_USER = flags)
# Debian's rstan does not find Debian's Boost.
if (!file.exists(rstan_options("boost_lib"))) rstan_options(boost_lib = "/usr/include")
cores <- 2

all_words <- commandArgs(trailingOnly = TRUE)
words <- all_words
value_of <- function(name, default) {
  at <- match(name, words)
  if (is.na(at)) return(default)
  value <- as.integer(words[at + 1])
  words <<- words[-c(at, at + 1)]
  value
}
chains <- value_of("--chains", 4L)
warmup <- value_of("--warmup", 1000L)
draws <- value_of("--draws", 1000L)
seed <- value_of("--seed", 1L)
is_check <- "--check" %in% words
words <- setdiff(words, "--check")
folder <- words[1]
script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
stan_folder <- file.path(dirname(script), "stan")
names_of_models <- words[-1]
if (length(names_of_models) == 0) names_of_models <- sub("\\.stan$", "", list.files(stan_folder, "\\.stan$"))

# The file's arrays are flat and row-major, each with its shape.
read_data <- function(name) {
  lapply(fromJSON(file.path(folder, paste0(name, ".json"))), function(column) {
    if (length(column$shape) == 0) return(column$values)
    if (length(column$shape) == 1) return(array(column$values, dim = column$shape))
    matrix(column$values, nrow = column$shape[1], byrow = TRUE)
  })
}

# Compiled programs lie in the folder of the data.
compile <- function(name) {
  path <- file.path(folder, paste0(name, ".stan"))
  text <- readLines(file.path(stan_folder, paste0(name, ".stan")))
  if (!file.exists(path) || !identical(readLines(path), text)) writeLines(text, path)
  is_there <- file.exists(file.path(folder, paste0(name, ".rds")))
  seconds <- system.time(program <- suppressMessages(stan_model(path, model_name = name)))[["elapsed"]]
  list(program = program, seconds = if (is_there) NA else seconds)
}

measure <- function(name) {
  data <- read_data(name)
  compiled <- compile(name)
  fit <- suppressWarnings(sampling(compiled$program, data = data, chains = chains, cores = cores, seed = seed,
                                   iter = warmup + draws, warmup = warmup, refresh = 0))
  seconds <- colSums(get_elapsed_time(fit)) / min(cores, chains)
  statistics <- get_sampler_params(fit, inc_warmup = TRUE)
  leapfrogs <- sum(sapply(statistics, function(each) sum(each[, "n_leapfrog__"])))
  divergences <- sum(sapply(statistics, function(each) sum(tail(each[, "divergent__"], draws))))
  values <- as.array(fit)
  ess <- Inf
  worst <- 0
  for (parameter in setdiff(dimnames(values)[[3]], "lp__")) {
    x <- values[, , parameter]
    if (min(x) == max(x)) next
    ess <- min(ess, ess_bulk(x))
    worst <- max(worst, Rhat(x))
  }
  both <- sum(seconds)
  line <- list(engine = "rstan", model = name, chains = chains, warmup = warmup, draws = draws,
               first_draw_s = compiled$seconds, warmup_s = seconds[["warmup"]], sampling_s = seconds[["sample"]],
               leapfrogs = leapfrogs, leapfrogs_per_s = leapfrogs / both, ess = ess, ess_per_s = ess / both,
               ess_per_s_sampling = ess / seconds[["sample"]], r_hat = worst, divergences = divergences)
  cat(toJSON(line, auto_unbox = TRUE, digits = 8, na = "null"), "\n", sep = "")
}

# --- Log densities beside Adit's ---

# Simplexes are declared first: how many, and of which size.
simplexes <- list(mixture = c(1, 3), hmm = c(3, 3))

# Adit maps K - 1 numbers to a simplex by the inverse isometric log ratio, as Stan from 2.37 does; rstan 2.21
# breaks a stick. The volumes that both maps report differ by a constant factor, so that log densities at the
# same simplex differ by a constant. `from` is Adit's point, `to` rstan's, `jacobian` that of from by to.
simplex_maps <- function(u) {
  size <- length(u) + 1
  basis <- matrix(0, size, size - 1)
  for (j in seq_len(size - 1)) basis[1:(j + 1), j] <- c(rep(1, j), -j) / sqrt(j * (j + 1))
  x <- exp(basis %*% u)[, 1]
  x <- x / sum(x)
  left <- c(1, 1 - cumsum(x))[seq_len(size - 1)]  # of the stick, before each break
  share <- x[-size] / left
  to <- qlogis(share) + log(size - seq_len(size - 1))
  # x_k = left_k share_k, and share_k moves all that comes after it
  by_to <- matrix(0, size, size - 1)
  for (j in seq_len(size - 1)) {
    by_to[j, j] <- left[j] * share[j] * (1 - share[j])
    by_to[(j + 1):size, j] <- -x[(j + 1):size] * share[j]
  }
  list(to = to, jacobian = t(basis) %*% (by_to / x))
}

# Adit's point and gradient in rstan's numbers.
translate <- function(name, point, gradient) {
  shape <- simplexes[[name]]
  if (is.null(shape)) return(list(point = point, gradient = gradient))
  for (i in seq_len(shape[1])) {
    at <- (i - 1) * (shape[2] - 1) + seq_len(shape[2] - 1)
    maps <- simplex_maps(point[at])
    point[at] <- maps$to
    gradient[at] <- t(maps$jacobian) %*% gradient[at]
  }
  list(point = point, gradient = gradient)
}

check <- function(name) {
  program <- compile(name)$program
  silent <- capture.output(fit <- suppressWarnings(suppressMessages(
    sampling(program, data = read_data(name), chains = 0, refresh = 0))))
  points <- fromJSON(file.path(folder, paste0(name, ".check.json")), simplifyDataFrame = FALSE)
  differences <- numeric()
  off <- 0
  scale <- 1
  for (each in points) {
    translated <- translate(name, each$point, each$gradient)
    if (get_num_upars(fit) != length(each$point)) stop(name, ": ", get_num_upars(fit), " numbers here, ",
                                                       length(each$point), " in Adit")
    theirs <- grad_log_prob(fit, translated$point, adjust_transform = TRUE)
    differences <- c(differences, attr(theirs, "log_prob") - each$log_density)
    scale <- max(scale, abs(each$log_density))
    off <- max(off, abs(theirs - translated$gradient) / max(1, abs(translated$gradient)))
  }
  density_off <- (max(differences) - min(differences)) / scale
  cat(sprintf("%-22s log density off by %.1e, gradient by %.1e%s\n", name, density_off, off,
              if (max(density_off, off) < 1e-8) "" else "  WRONG"))
}

# Several models: a process each, so that a crash ends one model alone.
if (length(names_of_models) > 1) {
  for (name in names_of_models)
    system2("Rscript", c(script, all_words[!all_words %in% names_of_models], name), stderr = FALSE)
} else {
  name <- names_of_models
  tryCatch(
    if (is_check) check(name) else measure(name),
    error = function(e) cat(toJSON(list(engine = "rstan", model = name, refused = conditionMessage(e)),
                                   auto_unbox = TRUE), "\n", sep = ""))
}
