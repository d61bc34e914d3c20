import type {Clock} from '../runtime.ts'

/** Lines of a server's log, each with its time. */
export function timestamped(stream: NodeJS.WritableStream, clock: Clock): (line: string) => void {
  return (line) => void stream.write(`${clock.now().toISOString()} ${line}\n`)
}
