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

complete -c adit -n __fish_use_subcommand -a sample -d 'Sample a built-in example with NUTS'
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

# Every command but `bench`, whose own command has it.
complete -c adit -n '__fish_seen_subcommand_from sample summary diagnose loo report devices doctor device cache ops version' \
    -l json -d 'Print one JSON document'
complete -c adit -n '__fish_seen_subcommand_from summary diagnose loo report' -F

set -l sample '__fish_seen_subcommand_from sample'
complete -c adit -n $sample -a '(__adit_models)'
complete -c adit -n $sample -l list -d 'List the built-in examples and exit'
complete -c adit -n $sample -x -l chains -d 'Chains'
complete -c adit -n $sample -x -l warmup -d 'Iterations of warm-up a chain'
complete -c adit -n $sample -x -l draws -d 'Draws a chain that are kept'
complete -c adit -n $sample -x -l thin -d 'Keep one iteration of N'
complete -c adit -n $sample -x -l seed -d 'The same seed gives the same draws'
complete -c adit -n $sample -x -l device -a '(__adit_devices)' -d 'The device'
complete -c adit -n $sample -x -l precision -a 'auto f32 f64' -d 'Floating type of the sampler'
complete -c adit -n $sample -x -l layout -a 'auto lane team device' -d 'How chains lie on the device'
complete -c adit -n $sample -x -l metric -a 'diag dense unit' -d 'The mass matrix'
complete -c adit -n $sample -x -l adapt -a 'chain pooled' -d 'Each chain by itself, or all together'
complete -c adit -n $sample -x -l adapt-delta -d 'Acceptance that the step size aims at'
complete -c adit -n $sample -x -l max-depth -d 'Deepest tree, 1 to 12'
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
