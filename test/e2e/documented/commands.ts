import {readdirSync, readFileSync} from 'node:fs'

const FILES = ['README.md', ...readdirSync('docs').map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
)
/** Code blocks: their language, and what is in them. */
const BLOCK = /^```(\w*)\n(.*?)^```$/gms
const PROGRAMS = '(?:trustadm|bin/run\\.js|npm|kubectl|systemctl)'
/** In a sentence or a table. A name with a blank behind it: `trustadm.io/issuer` is no command. */
const INLINE = new RegExp(`\`(${PROGRAMS} [^\`]+)\``, 'g')
const IN_A_UNIT = /^ExecStart=\S*\/(trustadm .*)$/gm
const COMMENT = /\s+#\s.*$/

/** A command as it stands in the documentation, without the comment behind it; its file is for messages. */
export interface Documented {
  command: string
  file: string
}

const oneLine = (text: string): string => text.replaceAll(/\\\n\s*/g, '').replaceAll(/\s+/g, ' ')

const shellLines = (content: string): string[] =>
  content
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(COMMENT, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'))

/** A block without a language is shell if its first word is a program. */
const isShell = (language: string, content: string): boolean =>
  language === 'sh' || (language === '' && new RegExp(`^${PROGRAMS} `).test(content))

function commandsOf(text: string): string[] {
  const blocks = Array.from(text.matchAll(BLOCK), ([, language = '', content = '']) => ({
    language,
    content,
  }))
  const inBlocks = blocks.flatMap(({language, content}) =>
    isShell(language, content)
      ? shellLines(content)
      : Array.from(content.matchAll(IN_A_UNIT), ([, command = '']) => command),
  )
  const prose = text.replaceAll(BLOCK, '')
  return [
    ...inBlocks,
    ...Array.from(prose.matchAll(INLINE), ([, command = '']) => oneLine(command)),
  ]
}

/** Every command of the README and of docs/, each once. */
export function documentedCommands(): Documented[] {
  const found = new Map<string, Documented>()
  for (const file of FILES) {
    for (const command of commandsOf(readFileSync(file, 'utf8')))
      if (!found.has(command)) found.set(command, {command, file})
  }
  return [...found.values()]
}

/** The content of the first code block of a file that begins so. */
export function blockOf(file: string, beginning: string): string {
  for (const [, , content = ''] of readFileSync(file, 'utf8').matchAll(BLOCK))
    if (content.startsWith(beginning)) return content
  throw new Error(`${file} has no code block that begins with ${beginning}`)
}
