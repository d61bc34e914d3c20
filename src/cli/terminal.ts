export type Environment = Record<string, string | undefined>
export type Stream = Pick<NodeJS.WriteStream, 'isTTY'>

/** Whether the output is a terminal: spinners, colours and questions are for people only. */
export function isInteractive(stream: Stream, environment: Environment = process.env): boolean {
  return stream.isTTY && !environment.CI && environment.TERM !== 'dumb'
}

/** Whether colours are wanted: https://no-color.org */
export const hasColours = (stream: Stream, environment: Environment = process.env): boolean =>
  isInteractive(stream, environment) && !environment.NO_COLOR
