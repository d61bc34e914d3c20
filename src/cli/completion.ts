import type {Command} from '@oclif/core/command'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

type Described = Pick<Command.Loadable, 'id' | 'flags' | 'args' | 'summary' | 'hidden'>

interface Node {
  /** The words before this one, such as `init phase`. */
  path: string
  words: {word: string; summary: string}[]
  flags: {name: string; char: string; summary: string; takesValue: boolean; options: string[]}[]
}

const plain = (text: string | undefined): string => (text ?? '').replaceAll(/['"`$\\:[\]]/g, '')

function nodeOf(path: string, commands: readonly Described[]): Node {
  const prefix = path === '' ? '' : `${path.replaceAll(' ', ':')}:`
  const own = commands.find(({id}) => id === prefix.slice(0, -1))
  const next = new Map<string, string>()
  for (const {id, summary} of commands) {
    if (!id.startsWith(prefix) || id === prefix.slice(0, -1)) continue
    const [word = '', ...more] = id.slice(prefix.length).split(':')
    if (more.length === 0 || !next.has(word))
      next.set(word, more.length === 0 ? plain(summary) : word)
  }
  for (const argument of Object.values(own?.args ?? {})) {
    for (const option of (argument.options ?? []) as string[]) next.set(option, '')
  }
  return {
    path,
    words: [...next].map(([word, summary]) => ({word, summary})),
    flags: Object.values(own?.flags ?? {}).map((flag) => ({
      name: flag.name,
      char: flag.char ?? '',
      summary: plain(flag.summary),
      takesValue: flag.type === 'option',
      options: flag.type === 'option' ? [...(flag.options ?? [])] : [],
    })),
  }
}

/** Every place on the command line where something can be completed. */
function nodesOf(commands: readonly Described[]): Node[] {
  const paths = new Set<string>([''])
  for (const {id} of commands) {
    const words = id.split(':')
    for (let count = 1; count <= words.length; count += 1) {
      paths.add(words.slice(0, count).join(' '))
    }
  }
  return [...paths].map((path) => nodeOf(path, commands))
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join('|')

/** What may follow a flag: its choices, or a file, which the shell completes. */
function valueCase(path: string, {name, char, options}: Node['flags'][number]): string {
  const places = [`--${name}`, ...(char === '' ? [] : [`-${char}`])].map((one) =>
    `${path} ${one}`.trim(),
  )
  const choices = options.length === 0 ? '' : `$(compgen -W '${options.join(' ')}' -- "$current")`
  return `    ${quoted(places)}) COMPREPLY=(${choices}); return ;;`
}

/** bash looks the words up by the command so far; zsh reads the same script through its bash emulation. */
function bash(nodes: readonly Node[]): string {
  const cases = nodes.map(({path, words, flags}) => {
    const all = [...words.map(({word}) => word), ...flags.map(({name}) => `--${name}`), '--help']
    return `    '${path}') candidates='${all.join(' ')}' ;;`
  })
  const values = nodes.flatMap(({path, flags}) =>
    flags.filter(({takesValue}) => takesValue).map((flag) => valueCase(path, flag)),
  )
  return `_trustadm() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path='' candidates='' word attempt
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    attempt="\${path:+$path }$word"
    case "$attempt" in
      ${quoted(nodes.map(({path}) => path))}) path="$attempt" ;;
    esac
  done
  case "\${path:+$path }$previous" in
${values.join('\n')}
  esac
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
}
complete -o default -F _trustadm trustadm
`
}

const zsh = (nodes: readonly Node[]): string => `autoload -U +X compinit && compinit
autoload -U +X bashcompinit && bashcompinit
${bash(nodes)}`

function fish(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({path, words, flags}) => {
    const when = `-n '__trustadm_at "${path}"'`
    return [
      ...words.map(
        ({word, summary}) => `complete -c trustadm -f ${when} -a '${word}' -d '${summary}'`,
      ),
      ...flags.map(({name, char, summary, takesValue, options}) => {
        const short = char === '' ? '' : ` -s ${char}`
        const value = takesValue ? ' -r' : ''
        const choices = options.length > 0 ? ` -f -a '${options.join(' ')}'` : ''
        return `complete -c trustadm ${when} -l ${name}${short}${value}${choices} -d '${summary}'`
      }),
    ]
  })
  return `function __trustadm_at
  set -l words (commandline -opc)
  set -l plain
  for word in $words[2..-1]
    string match -q -- '-*' $word; or set -a plain $word
  end
  test "$plain" = "$argv[1]"
end
${lines.join('\n')}
`
}

const SCRIPTS: Record<Shell, (nodes: readonly Node[]) => string> = {bash, zsh, fish}

/** A script for a shell to source, generated from the list of commands. */
export function completionScript(shell: Shell, commands: readonly Described[]): string {
  return SCRIPTS[shell](nodesOf(commands.filter(({hidden}) => !hidden)))
}
