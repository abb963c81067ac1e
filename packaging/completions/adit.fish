# Completions of adit for fish. tests/packaging_test.cpp finds options that are missing here.

function __adit_devices
    printf '%s\n' cpu vulkan
    adit devices 2>/dev/null | string match -r -g '^[* ] *(vulkan:\d+) '
end

function __adit_models
    adit sample --list 2>/dev/null | tail -n +2 | string replace -r ' +' \t
end

complete -c adit -f
complete -c adit -s h -l help -d 'Print the help and exit'
complete -c adit -n __fish_use_subcommand -l version -d 'Print the version and exit'

complete -c adit -n __fish_use_subcommand -a sample -d 'Sample a model with NUTS'
complete -c adit -n __fish_use_subcommand -a optimize -d 'The highest point of a posterior density, or of a likelihood'
complete -c adit -n __fish_use_subcommand -a laplace -d 'Draws of a normal approximation at the mode of a posterior'
complete -c adit -n __fish_use_subcommand -a log-prob -d 'The log density and its gradient at points'
complete -c adit -n __fish_use_subcommand -a generate -d 'Generated quantities of draws that were made earlier'
complete -c adit -n __fish_use_subcommand -a check-gradient -d 'The gradient at a start beside differences of the log density'
complete -c adit -n __fish_use_subcommand -a explain -d 'What is made of a model: its loops, passes, memory and kernel'
complete -c adit -n __fish_use_subcommand -a check -d 'What is wrong with a Stan program, without running it'
complete -c adit -n __fish_use_subcommand -a format -d 'A Stan program in one style, on standard output'
complete -c adit -n __fish_use_subcommand -a summary -d 'Means, errors, quantiles, ESS and R-hat of saved draws'
complete -c adit -n __fish_use_subcommand -a diagnose -d 'What is wrong with saved draws, and what to do'
complete -c adit -n __fish_use_subcommand -a loo -d 'PSIS-LOO and WAIC of saved draws'
complete -c adit -n __fish_use_subcommand -a report -d 'One HTML file with the plots of saved draws'
complete -c adit -n __fish_use_subcommand -a devices -d 'List the devices'
complete -c adit -n __fish_use_subcommand -a doctor -d 'Measure what a device really does'
complete -c adit -n __fish_use_subcommand -a bench -d 'Measure speed'
complete -c adit -n __fish_use_subcommand -a cache -d 'Show or clear what is kept on disk'
complete -c adit -n __fish_use_subcommand -a ops -d 'List the tensor operations'
complete -c adit -n __fish_use_subcommand -a version -d 'What this build is'

# Every command but `format`, and `bench`, whose own command has it.
complete -c adit -n '__fish_seen_subcommand_from sample optimize laplace log-prob generate check-gradient explain check summary' \
    -l json -d 'Print one JSON document'
complete -c adit -n '__fish_seen_subcommand_from diagnose loo report devices doctor device cache ops version' \
    -l json -d 'Print one JSON document'
complete -c adit -n '__fish_seen_subcommand_from summary diagnose loo report' -F
complete -c adit -n '__fish_seen_subcommand_from sample optimize laplace log-prob generate check-gradient explain' \
    -a '(__adit_models)'
complete -c adit -n '__fish_seen_subcommand_from sample optimize laplace log-prob generate check-gradient explain check format' \
    -k -a '(__fish_complete_suffix .stan)'

set -l sample '__fish_seen_subcommand_from sample'
complete -c adit -n $sample -rF -l data -d 'Data of a Stan program'
complete -c adit -n $sample -x -l include-paths -a '(__fish_complete_directories)' -d 'Where #include looks'
complete -c adit -n $sample -l list -d 'List the models and exit'
complete -c adit -n $sample -x -l chains -d 'Chains'
complete -c adit -n $sample -x -l warmup -d 'Iterations of warm-up a chain'
complete -c adit -n $sample -x -l draws -d 'Draws a chain that are kept'
complete -c adit -n $sample -x -l thin -d 'Keep one iteration of N'
complete -c adit -n $sample -x -l seed -d 'The same seed gives the same draws'
complete -c adit -n $sample -x -l device -a '(__adit_devices)' -d 'The device'
complete -c adit -n $sample -x -l precision -a 'auto f32 mixed f64' -d 'Floating type of the sampler'
complete -c adit -n $sample -x -l layout -a 'auto lane team device' -d 'How chains lie on the device'
complete -c adit -n $sample -x -l metric -a 'auto diag dense unit' -d 'The mass matrix'
complete -c adit -n $sample -x -l adapt -a 'chain pooled' -d 'Each chain by itself, or all together'
complete -c adit -n $sample -x -l stuck -a 'restart keep' -d 'What becomes of a chain that sits where there is next to nothing'
complete -c adit -n $sample -x -l adapt-delta -d 'Acceptance that the step size aims at'
complete -c adit -n $sample -x -l max-depth -d 'Deepest tree, 1 to 12'
complete -c adit -n $sample -x -l step-size -d 'Where the search for a step size begins'
complete -c adit -n $sample -x -l gamma -d 'How strongly the step size is held back'
complete -c adit -n $sample -x -l kappa -d 'How fast earlier iterations are forgotten'
complete -c adit -n $sample -x -l t0 -d 'Iterations that count little at the beginning'
complete -c adit -n $sample -x -l init-buffer -d 'First iterations of warm-up'
complete -c adit -n $sample -x -l term-buffer -d 'Last iterations of warm-up'
complete -c adit -n $sample -x -l window -d 'The first window between them'
complete -c adit -n $sample -l fixed-param -d 'Draw generated quantities alone'
complete -c adit -n $sample -l stan-compat -d 'Do as Stan does'
complete -c adit -n $sample -rF -l init -d 'Radius, or a JSON file of values'
complete -c adit -n $sample -rF -l warm-start -d 'Saved draws: their step size and mass matrix'
complete -c adit -n $sample -l resume -d 'Go on with the run that was stopped'
complete -c adit -n $sample -l overwrite -d 'Replace the run that was stopped'
complete -c adit -n $sample -x -l output -a '(__fish_complete_directories)' -d 'Folder for draws and report'
complete -c adit -n $sample -x -l format -a 'csv netcdf both none' -d 'Files of draws'
complete -c adit -n $sample -l save-warmup -d 'Keep the draws of the warm-up too'
complete -c adit -n $sample -l log-likelihood -d 'Keep the log likelihood of every observation'
complete -c adit -n $sample -l predictive -d 'Draw new observations from the posterior'
complete -c adit -n $sample -l report -d 'Write report.html'
complete -c adit -n $sample -l no-report -d 'Write no report.html'
complete -c adit -n $sample -l quiet -d 'Print no progress'

set -l fit '__fish_seen_subcommand_from optimize laplace log-prob generate check-gradient'
complete -c adit -n $fit -rF -l data -d 'Data of a Stan program'
complete -c adit -n $fit -x -l include-paths -a '(__fish_complete_directories)' -d 'Where #include looks'
complete -c adit -n $fit -x -l seed -d 'Of random numbers'
complete -c adit -n $fit -x -l device -a '(__adit_devices)' -d 'The device'
complete -c adit -n $fit -l quiet -d 'Print no progress'
complete -c adit -n '__fish_seen_subcommand_from optimize laplace log-prob' -rF -l output -d 'CSV as CmdStan writes it'
complete -c adit -n '__fish_seen_subcommand_from optimize laplace check-gradient' -rF -l init -d 'Radius, or a file of values'
complete -c adit -n '__fish_seen_subcommand_from laplace log-prob' -l no-jacobian -d 'Without the Jacobians of constraints'

set -l optimize '__fish_seen_subcommand_from optimize'
complete -c adit -n $optimize -l jacobian -d 'With the Jacobians of constraints'
complete -c adit -n $optimize -l save-iterations -d 'A row for every step'
complete -c adit -n $optimize -x -l algorithm -a 'lbfgs bfgs newton' -d 'How the point is searched for'
complete -c adit -n $optimize -x -l iterations -d 'At most'
complete -c adit -n $optimize -x -l init-alpha -d 'Scale of the first step'
complete -c adit -n $optimize -x -l tol-obj -d 'Change of the log density that ends the search'
complete -c adit -n $optimize -x -l tol-rel-obj -d 'The same, relative, in units of 2^-52'
complete -c adit -n $optimize -x -l tol-grad -d 'Length of the gradient'
complete -c adit -n $optimize -x -l tol-rel-grad -d 'What the gradient promises, relative, in units of 2^-52'
complete -c adit -n $optimize -x -l tol-param -d 'Length of a step'
complete -c adit -n $optimize -x -l history-size -d 'Steps that L-BFGS remembers'

complete -c adit -n '__fish_seen_subcommand_from laplace' -rF -l mode -d 'Of optimize, or JSON with values by variable'
complete -c adit -n '__fish_seen_subcommand_from laplace' -x -l draws -d 'Draws of the approximation'
complete -c adit -n '__fish_seen_subcommand_from log-prob' -rF -l constrained-params -d 'Values by variable'
complete -c adit -n '__fish_seen_subcommand_from log-prob' -rF -l unconstrained-params -d 'Rows of numbers'
complete -c adit -n '__fish_seen_subcommand_from generate' -x -l output -a '(__fish_complete_directories)' -d 'Folder for draws and report'
complete -c adit -n '__fish_seen_subcommand_from generate' -rF -l draws -d 'Draws that were made earlier'
complete -c adit -n '__fish_seen_subcommand_from generate' -x -l format -a 'csv netcdf both none' -d 'Files of draws'
complete -c adit -n '__fish_seen_subcommand_from check-gradient' -rF -l output -d 'The table as CSV'
complete -c adit -n '__fish_seen_subcommand_from check-gradient' -x -l epsilon -d 'Step of the differences'
complete -c adit -n '__fish_seen_subcommand_from check-gradient' -x -l error -d 'What may be off'

set -l explain '__fish_seen_subcommand_from explain'
complete -c adit -n $explain -rF -l data -d 'Data of a Stan program'
complete -c adit -n $explain -x -l include-paths -a '(__fish_complete_directories)' -d 'Where #include looks'
complete -c adit -n $explain -x -l seed -d 'Of random numbers'
complete -c adit -n $explain -x -l device -a '(__adit_devices)' -d 'The device'
complete -c adit -n $explain -x -l chains -d 'That it is made ready for'
complete -c adit -n $explain -x -l warmup -d 'Iterations of warm-up'
complete -c adit -n $explain -x -l precision -a 'auto f32 mixed f64' -d 'Floating type of the sampler'
complete -c adit -n $explain -x -l layout -a 'auto lane team device' -d 'How chains lie on the device'
complete -c adit -n $explain -x -l metric -a 'auto diag dense unit' -d 'The mass matrix'
complete -c adit -n $explain -x -l adapt -a 'chain pooled' -d 'Each chain by itself, or all together'
complete -c adit -n $explain -x -l max-depth -d 'Deepest tree, 1 to 12'

complete -c adit -n '__fish_seen_subcommand_from summary' -x -l sig-figs -d 'Significant figures, 1 to 17'
complete -c adit -n '__fish_seen_subcommand_from report' -rF -l output -d 'The file to write'
complete -c adit -n '__fish_seen_subcommand_from devices' -l limits -d 'Show the limits too'
complete -c adit -n '__fish_seen_subcommand_from doctor device' -x -l device -a '(__adit_devices)' -d 'The device'
complete -c adit -n '__fish_seen_subcommand_from doctor' -l save -d 'Keep the result for later runs'
complete -c adit -n '__fish_seen_subcommand_from doctor' -l no-save -d 'Do not keep the result'
complete -c adit -n '__fish_seen_subcommand_from bench; and not __fish_seen_subcommand_from device' \
    -a device -d 'Latency, bandwidth and compile times of a device'
complete -c adit -n '__fish_seen_subcommand_from cache; and not __fish_seen_subcommand_from show clear' \
    -a show -d 'Where it is and how large'
complete -c adit -n '__fish_seen_subcommand_from cache; and not __fish_seen_subcommand_from show clear' \
    -a clear -d 'Remove every entry'

set -l stan '__fish_seen_subcommand_from check format'
complete -c adit -n $stan -x -l include-paths -a '(__fish_complete_directories)' -d 'Where #include looks'
complete -c adit -n $stan -l allow-undefined -d 'Functions without a body are no errors'
