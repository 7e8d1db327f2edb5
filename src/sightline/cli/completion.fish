function __sightline_answers
    set -l program (string replace -r '^~/' "$HOME/" -- (commandline -cpo)[1])
    set -l answer (env _SIGHTLINE_COMPLETE=fish_complete \
        COMP_WORDS=(commandline -cp | string collect) \
        $program </dev/null 2>/dev/null)
    set -l kind $answer[1]
    set -e answer[1]
    set -g __sightline_answer $answer
    switch "$kind"
        case items
            return 0
        case mixed
            set -l word (commandline -ct)
            set -a __sightline_answer (complete -C "'' $word")
        case dirs
            set -g __sightline_answer (__fish_complete_directories (commandline -ct) '')
        case command
            set -e answer[1]
            set -g __sightline_answer (complete -C (string join \n -- $answer | string collect))
        case '*'
            return 1
    end
    set -q __sightline_answer[1]
end

# Where Sightline has no answer, fish completes files as it does for any command.
for program in sightline sightline-guard
    complete -c $program -e
    complete -c $program -n __sightline_answers -f -k -a '$__sightline_answer'
end
