import {INIT_PHASE_NAMES} from '../control-plane/init/names.ts'
import {onFolderWarning} from '../fs/folders.ts'
import type {PhaseObserver} from '../phases.ts'
import {every} from '../runtime.ts'
import {columnsOf, paragraph} from './layout.ts'
import {plainText} from './plain-text.ts'
import {colours} from './colours.ts'
import {isInteractive} from './terminal.ts'

/** As wide as the longest name of a phase, so that the summaries line up. */
const NAME_WIDTH = Math.max(...INIT_PHASE_NAMES.map((name) => name.length))

/** Shows the progress of a long command: phase by phase on a terminal, in plain lines elsewhere. */
export interface Progress extends PhaseObserver {
  tell: (line: string) => void
  /** Like `tell`, for something that is being waited for: also shown on a terminal. */
  note: (line: string) => void
  /** Shows how far a phase is: in its own line on a terminal, elsewhere now and then in a line of its own. */
  update: (text: string) => void
  warn: (line: string) => void
  /** Marks a phase that failed, before the error is shown. */
  stop: () => void
  /** Marks a phase that is left to a later run. */
  leave: () => void
}

export interface ProgressOptions {
  quiet: boolean
  verbose: boolean
  stream?: NodeJS.WriteStream
  /** Whether the names of phases are for programs only, so that a terminal shows their summaries alone. */
  hidesNames?: boolean
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MILLISECONDS = 80
/** The mark, the blanks between, and the last column, which some terminals wrap at. */
const MARGIN = 5
/** Milliseconds between two lines about the same phase, where lines stay. */
const UPDATE_EVERY = 10_000

export function createProgress(options: ProgressOptions): Progress {
  const {quiet, stream = process.stderr} = options
  const progress = quiet
    ? SILENT
    : isInteractive(stream)
      ? animated(stream, options)
      : plain(stream)
  const {tell, note, warn, update} = progress
  onFolderWarning((line) => warn(plainText(line)))
  return {
    ...progress,
    tell: (line) => tell(plainText(line)),
    note: (line) => note(plainText(line)),
    update: (text) => update(plainText(text)),
    warn: (line) => warn(plainText(line)),
  }
}

const nothing = () => undefined

/** Whoever asks for quiet gets it: a script that reads the standard error expects errors alone. */
const SILENT: Progress = {
  begin: nothing,
  end: nothing,
  tell: nothing,
  note: nothing,
  update: nothing,
  stop: nothing,
  leave: nothing,
  warn: nothing,
}

function warner(stream: NodeJS.WriteStream): (line: string) => void {
  return (line) => void stream.write(warning(stream, line))
}

const warning = (stream: NodeJS.WriteStream, line: string): string =>
  paragraph(`${colours(stream).yellow('Warning:')} `, line, columnsOf(stream))

function plain(stream: NodeJS.WriteStream): Progress {
  let phase = ''
  const tell = (text: string) => {
    const start = phase === '' ? '' : `[${phase}] `
    for (const line of text.split('\n')) stream.write(`${start}${line}\n`)
  }
  let [shown, nextAt] = ['', 0]
  return {
    begin: ({name}) => {
      phase = name
      nextAt = 0
    },
    end: () => undefined,
    stop: () => undefined,
    leave: () => undefined,
    tell,
    note: tell,
    update: (text) => {
      if (text === shown || performance.now() < nextAt) return
      nextAt = performance.now() + UPDATE_EVERY
      shown = text
      tell(text)
    },
    warn: warner(stream),
  }
}

function animated(
  stream: NodeJS.WriteStream,
  {verbose, hidesNames = false}: ProgressOptions,
): Progress {
  const paint = colours(stream)
  /** `shown` is what stands there until the phase ends. */
  let drawing: {text: string; shown: string; stop: () => void} | undefined
  let frame = 0
  // A line that wraps cannot be redrawn: only its last row would be replaced.
  const cut = (text: string, taken: number) => {
    const room = Math.max(0, (stream.columns || Infinity) - taken)
    return text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`
  }
  const clear = () => void stream.write('\r\u001B[K')
  const draw = (text: string) => {
    frame = (frame + 1) % FRAMES.length
    stream.write(`\r\u001B[K${paint.cyan(FRAMES[frame] ?? '')} ${text}`)
  }
  const close = (mark: string) => {
    if (!drawing) return
    drawing.stop()
    clear()
    stream.write(`${mark} ${drawing.text}\n`)
    drawing = undefined
  }
  const above = (text: string) => {
    if (drawing) clear()
    stream.write(text)
    if (drawing) draw(drawing.shown)
  }
  return {
    begin: ({name, summary}) => {
      const text = hidesNames
        ? cut(summary, MARGIN)
        : `${paint.bold(name.padEnd(NAME_WIDTH))}  ${paint.dim(cut(summary, NAME_WIDTH + MARGIN))}`
      const redraw = () => draw(drawing?.shown ?? text)
      drawing = {text, shown: text, stop: every(FRAME_MILLISECONDS, redraw)}
      draw(text)
    },
    end: () => close(paint.green('✔')),
    stop: () => close(paint.red('✖')),
    leave: () => close(paint.yellow('…')),
    tell: (line) => {
      if (!drawing) above(paragraph('', line, columnsOf(stream)))
      else if (verbose) above(paragraph('  ', paint.dim(line), columnsOf(stream)))
    },
    note: (line) => above(paragraph('  ', line, columnsOf(stream))),
    update: (text) => {
      if (!drawing) return
      drawing.shown = cut(text, MARGIN)
      draw(drawing.shown)
    },
    warn: (line) => above(warning(stream, line)),
  }
}
