import {Chalk, type ChalkInstance} from 'chalk'
import {hasColours, type Environment, type Stream} from './terminal.ts'

/** Colours, if they are wanted. Not in terminal.ts: commands that print no colours must not load the library. */
export const colours = (stream: Stream, environment: Environment = process.env): ChalkInstance =>
  new Chalk({level: hasColours(stream, environment) ? 1 : 0})
