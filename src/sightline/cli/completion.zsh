#compdef sightline sightline-guard

_sightline() {
    local line
    local -a answer values shown
    answer=("${(@f)$(_SIGHTLINE_COMPLETE=zsh_complete \
        COMP_WORDS="${(j: :)words[1,CURRENT-1]} $QIPREFIX$IPREFIX$PREFIX" \
        command ${~${(Q)words[1]}} </dev/null 2>/dev/null)}")
    case $answer[1] in
        items | mixed)
            for line in "${(@)answer[2,-1]}"; do
                values+=("${line%%$'\t'*}")
                shown+=("${line/$'\t'/  -- }")
            done
            if [[ $answer[2] == *$'\t'* ]]; then
                compadd -V sightline -l -d shown -a values
            else
                compadd -V sightline -a values
            fi
            if [[ $answer[1] == mixed ]]; then _files; fi
            ;;
        dirs)
            [[ $PREFIX == --*=* ]] && compset -P '*='
            _path_files -/
            ;;
        command)
            shift $answer[2] words
            ((CURRENT -= answer[2]))
            _normal
            ;;
        *)
            [[ $PREFIX == --*=* ]] && compset -P '*='
            _files
            ;;
    esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _sightline "$@"
else
    if ((! $+functions[compdef])); then
        autoload -Uz compinit && compinit -i
    fi
    compdef _sightline sightline sightline-guard
fi
