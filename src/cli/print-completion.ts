import {printable} from '../client/printable.ts'
import {clusterNames} from './complete-source.ts'
import {complete} from './complete.ts'
import type {Manifest} from './manifest.ts'

/** Names of a cluster may hold anything; a line is one candidate. */
const oneLine = (text: string): string => printable(text).replaceAll(/\s+/g, ' ')

/** The scripts read this: first whether files are wanted, then a word and its summary on each line. */
export async function printCompletion(
  words: readonly string[],
  manifest: Manifest,
): Promise<number> {
  const {files, candidates} = await complete(words, manifest, clusterNames)
  const lines = candidates.map(({word, summary = ''}) => `${oneLine(word)}\t${oneLine(summary)}`)
  process.stdout.write([`:${files}`, ...lines, ''].join('\n'))
  return 0
}
