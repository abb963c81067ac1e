# Completions of adit for bash. tests/packaging_test.cpp finds options that are missing here.

_adit_devices() { echo cpu vulkan; adit devices 2>/dev/null | sed -n 's/^[* ] *\(vulkan:[0-9]*\) .*/\1/p'; }
_adit_models() { adit sample --list 2>/dev/null | sed -n '2,$s/ .*//p'; }

_adit_options() {
  case $1 in
    '') echo --help --version ;;
    sample)
      echo --help --data --include-paths --list --chains --warmup --draws --thin --seed --device --precision --layout --metric \
        --adapt --stuck --adapt-delta --max-depth --step-size --gamma --kappa --t0 --init-buffer --term-buffer --window \
        --fixed-param --stan-compat --init --warm-start --resume --overwrite --output --format --save-warmup \
        --log-likelihood --predictive --report --no-report --json --quiet
      ;;
    optimize)
      echo --help --data --include-paths --seed --device --output --json --quiet --init --jacobian --save-iterations --algorithm \
        --iterations --init-alpha --tol-obj --tol-rel-obj --tol-grad --tol-rel-grad --tol-param --history-size
      ;;
    laplace) echo --help --data --include-paths --seed --device --output --json --quiet --init --mode --draws --no-jacobian ;;
    log-prob)
      echo --help --data --include-paths --seed --device --output --json --quiet --constrained-params --unconstrained-params \
        --no-jacobian
      ;;
    generate) echo --help --data --include-paths --seed --device --output --json --quiet --draws --format ;;
    check-gradient) echo --help --data --include-paths --seed --device --output --json --quiet --init --epsilon --error ;;
    explain)
      echo --help --data --include-paths --seed --device --json --chains --warmup --precision --layout --metric --adapt --max-depth
      ;;
    format) echo --help --include-paths --allow-undefined ;;
    check) echo --help --json --include-paths --allow-undefined ;;
    summary) echo --help --json --sig-figs ;;
    report) echo --help --json --output ;;
    devices) echo --help --json --limits ;;
    doctor) echo --help --json --device --save --no-save ;;
    bench) echo --help ;;
    'bench device') echo --help --json --device ;;
    diagnose | loo | cache | 'cache show' | 'cache clear' | ops | version) echo --help --json ;;
  esac
}

# The words that may come next where no option is being written.
_adit_words() {
  case $1 in
    '')
      echo sample optimize laplace log-prob generate check-gradient explain check format summary diagnose loo \
        report devices doctor bench cache ops version
      ;;
    sample | optimize | laplace | log-prob | generate | check-gradient | explain) _adit_models ;;
    bench) echo device ;;
    cache) echo show clear ;;
  esac
}

# What may follow an option of a command; status 1 where it takes no value, 2 where it is a file, 3 where nobody knows it.
_adit_values() {
  case $1 in
    --device) _adit_devices ;;
    --precision) echo auto f32 mixed f64 ;;
    --layout) echo auto lane team device ;;
    --metric) echo auto diag dense unit ;;
    --adapt) echo chain pooled ;;
    --stuck) echo restart keep ;;
    --format) echo csv netcdf both none ;;
    --algorithm) echo lbfgs bfgs newton ;;
    --data | --include-paths | --init | --warm-start | --output | --mode | --constrained-params | --unconstrained-params) return 2 ;;
    --draws) [[ $2 == generate ]] && return 2 || return 3 ;;
    --chains | --warmup | --thin | --seed | --adapt-delta | --max-depth | --step-size | --gamma | --kappa | --t0 | \
      --init-buffer | --term-buffer | --window | --iterations | --init-alpha | --tol-obj | --tol-rel-obj | \
      --tol-grad | --tol-rel-grad | --tol-param | --history-size | --epsilon | --error | --sig-figs)
      return 3
      ;;
    *) return 1 ;;
  esac
}

_adit_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# Stan programs that begin with the first word, the folders they may lie in, and those of the second word's words.
_adit_programs() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1"; compgen -d -- "$1"; compgen -f -X '!*.stan' -- "$1")
}

_adit() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' word i values
  COMPREPLY=()
  # bash takes "=" and ":" for words of their own: --device = vulkan : 0
  local at=$COMP_CWORD prefix=''
  if [[ $current == ':' ]]; then
    at=$((at - 1)) prefix=${COMP_WORDS[at]}: current=$prefix
  elif [[ $previous == ':' ]]; then
    at=$((at - 2)) prefix=${COMP_WORDS[at]}: current=$prefix$current
  fi
  if [[ $current == '=' ]]; then
    current=''
  elif [[ ${COMP_WORDS[at - 1]} == '=' ]]; then
    at=$((at - 1))
  fi
  previous=${COMP_WORDS[at - 1]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "$command $word" in
      ' sample' | ' optimize' | ' laplace' | ' log-prob' | ' generate' | ' check-gradient' | ' explain' | ' check' | \
        ' format' | ' summary' | ' diagnose' | ' loo' | ' report' | ' devices' | ' doctor' | ' bench' | ' cache' | ' ops' | \
        ' version')
        command=$word
        ;;
      'bench device' | 'cache show' | 'cache clear') command="$command $word" ;;
    esac
  done
  if ((COMP_CWORD > 1)); then
    values=$(_adit_values "$previous" "$command")
    case $? in
      0)
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
        COMPREPLY=("${COMPREPLY[@]#"$prefix"}")
        return
        ;;
      2) _adit_files "$current" && return ;;
      3) return ;;
    esac
  fi
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_adit_options "$command")" -- "$current")
    return
  fi
  case $command in
    summary | diagnose | loo | report) _adit_files "$current" ;;
    sample | optimize | laplace | log-prob | generate | check-gradient | explain | check | format)
      _adit_programs "$current" "$(_adit_words "$command")"
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$(_adit_words "$command")" -- "$current") ;;
  esac
}

complete -F _adit adit
