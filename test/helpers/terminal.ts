import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {PROGRAM, type Ended} from './program.ts'

/** What is waited for on the screen, and what is then typed. */
interface Turn {
  until: string
  type: string
}

export interface TerminalOptions {
  turns: Turn[]
  columns?: number
  env?: Record<string, string>
}

/** Runs its arguments on a terminal of its own, answers as it is told, and prints all that was on the screen. */
const DRIVER = `
import fcntl, json, os, pty, select, struct, sys, termios, time
columns, turns, argv = json.loads(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(argv[0], argv)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 50, columns, 0, 0))
seen, start, end = b'', 0, time.monotonic() + 30
while time.monotonic() < end:
    if turns and turns[0]['until'].encode() in seen[start:]:
        start = len(seen)
        os.write(terminal, turns.pop(0)['type'].encode())
    if not select.select([terminal], [], [], 0.05)[0]:
        continue
    try:
        data = os.read(terminal, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data
else:
    os.kill(pid, 9)
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
`

/** Runs the built program as a person at a terminal does. What it prints on both streams is in `stdout`. */
export const trustadmAtTerminal = (options: TerminalOptions, ...args: string[]): Promise<Ended> =>
  atTerminal(options, process.execPath, PROGRAM, ...args)

/** Runs any program so. */
export async function atTerminal(
  {turns, columns = 100, env = {}}: TerminalOptions,
  ...line: string[]
): Promise<Ended> {
  const {CI: _ci, NO_COLOR: _colour, ...inherited} = process.env
  const words = [JSON.stringify(columns), JSON.stringify(turns), ...line]
  const child = spawn('python3', ['-c', DRIVER, ...words], {
    env: {...inherited, TERM: 'xterm', ...env},
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return {code: code ?? -1, stdout, stderr}
}
