_sightline_completion() {
    local answer kind line
    COMPREPLY=()
    answer=$(_SIGHTLINE_COMPLETE=bash_complete COMP_BREAKS="$COMP_WORDBREAKS" \
        COMP_WORDS="${COMP_LINE:0:COMP_POINT}" \
        command "${1/#\~/$HOME}" </dev/null 2>/dev/null)
    {
        IFS= read -r kind
        case $kind in
            items | mixed)
                while IFS= read -r line; do COMPREPLY+=("$line"); done
                ;;
        esac
    } <<<"$answer"
    case $kind in
        mixed)
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do
                if [[ -n $line ]]; then COMPREPLY+=("$line"); fi
            done <<<"$(compgen -f -- "$2")"
            ;;
        dirs) compopt -o dirnames 2>/dev/null ;;
        command)
            read -r line <<<"${answer#*$'\n'}"
            if [[ $line == "$COMP_CWORD" && -n $2 ]]; then
                while IFS= read -r line; do
                    if [[ -n $line ]]; then COMPREPLY+=("$line"); fi
                done <<<"$(compgen -c -- "$2")"
            fi
            ;;
    esac
}

# No answer leaves the line to bash: to the user's other settings, and to its own files.
complete -o bashdefault -o default -o nosort -F _sightline_completion \
    sightline sightline-guard 2>/dev/null ||
    complete -o bashdefault -o default -F _sightline_completion sightline sightline-guard
