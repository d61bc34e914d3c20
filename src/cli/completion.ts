export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/**
 * bash splits words at "=" and ":" too; what was typed without a blank between is joined again for the program, and cut off again
 * from what is offered, because bash replaces only the last piece.
 */
const BASH = `_trustadm() {
  local rest="$COMP_LINE" words=() word adjacent= line files= start
  for word in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [ -n "$adjacent" ]; then words[\${#words[@]}-1]+="$word"; else words+=("$word"); fi
    rest="\${rest#"$word"}"
    case "$rest" in
      [[:space:]]*) adjacent=; rest="\${rest#"\${rest%%[![:space:]]*}"}" ;;
      *) adjacent=1 ;;
    esac
  done
  word="\${words[\${#words[@]}-1]}"
  start="\${word%"\${word##*[=:]}"}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -z "$files" ]; then files="$line"; continue; fi
    line="\${line%%$'\t'*}"
    COMPREPLY+=("\${line#"$start"}")
  done < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
  case "$files" in
    :any) compopt -o default 2>/dev/null ;;
    :folders) compopt -o dirnames 2>/dev/null ;;
  esac
}
complete -F _trustadm trustadm
`

const ZSH = `#compdef trustadm
_trustadm() {
  local -a lines described
  local files line word
  lines=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  files="\${lines[1]}"
  for line in "\${(@)lines[2,-1]}"; do
    word="\${line%%$'\t'*}"
    line="\${line#"$word"}"
    line="\${line#$'\t'}"
    described+=("\${word//:/\\:}\${line:+:$line}")
  done
  if (( \${#described} )); then _describe 'trustadm' described; fi
  if [[ "$files" != ':none' && "$PREFIX" == --*=* ]]; then compset -P '*='; fi
  case "$files" in
    :any) _files ;;
    :folders) _files -/ ;;
  esac
}
if [[ "\${funcstack[1]}" = '_trustadm' ]]; then
  _trustadm "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit -u; }
  compdef _trustadm trustadm
fi
`

const FISH = `function __trustadm_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
  set -l start (string match -r -- '^--[^=]+=' "$current")
  switch "$lines[1]"
    case ':any'
      for path in (__fish_complete_path (string replace -r -- '^--[^=]+=' '' "$current"))
        echo "$start$path"
      end
    case ':folders'
      for path in (__fish_complete_directories (string replace -r -- '^--[^=]+=' '' "$current"))
        echo "$start$path"
      end
  end
  printf '%s\n' $lines[2..-1]
end
complete -c trustadm -f -a '(__trustadm_complete)'
`

const SCRIPTS: Record<Shell, string> = {bash: BASH, zsh: ZSH, fish: FISH}

/** A script for a shell to source. It asks the program itself what may come next, which also knows the names in the cluster. */
export const completionScript = (shell: Shell): string => SCRIPTS[shell]
