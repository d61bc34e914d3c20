import {Chalk, type ChalkInstance} from 'chalk'

type Environment = Record<string, string | undefined>
type Stream = Pick<NodeJS.WriteStream, 'isTTY'>

/** Whether the output is a terminal: spinners, colours and questions are for people only. */
export function isInteractive(stream: Stream, environment: Environment = process.env): boolean {
  return stream.isTTY && !environment.CI && environment.TERM !== 'dumb'
}

/** Colours, if they are wanted: https://no-color.org */
export function colours(stream: Stream, environment: Environment = process.env): ChalkInstance {
  const wanted = isInteractive(stream, environment) && !environment.NO_COLOR
  return new Chalk({level: wanted ? 1 : 0})
}
