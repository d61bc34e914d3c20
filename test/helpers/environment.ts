import {mkdtempSync, readdirSync, rmSync, statfsSync, symlinkSync} from 'node:fs'
import {freemem, tmpdir} from 'node:os'
import {basename, join} from 'node:path'

/** Where Linux keeps files in memory, for every user. */
const MEMORY = '/dev/shm'
/** Before the number of the process that uses a folder. */
const PREFIX = 'trustadm-tests-'
/** What the tests that run at a time put there is a small part of it. */
const ROOM = 2 ** 30

/**
 * The tests write thousands of small files and wait until each is on the disk; in memory, that wait is none. Whoever sets TMPDIR
 * chooses the folder. The processes that mocha starts inherit what the first one has chosen.
 */
function useMemory(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return
  removeLeftOvers()
  const folder = mkdtempSync(join(MEMORY, `${PREFIX}${process.pid}-`))
  process.once('exit', () => rmSync(folder, {recursive: true, force: true, maxRetries: 3}))
  // tsx keeps what it has compiled, from one run to the next.
  const compiled = join(tmpdir(), `tsx-${process.getuid?.()}`)
  symlinkSync(compiled, join(folder, basename(compiled)))
  process.env.TMPDIR = folder
}

/** What runs that were killed have left behind: the folders of processes that are gone. */
function removeLeftOvers(): void {
  for (const name of readdirSync(MEMORY)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? []
    if (pid === undefined || isThere(Number(pid))) continue
    rmSync(join(MEMORY, name), {recursive: true, force: true, maxRetries: 3})
  }
}

/** Also if it is somebody else's. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

function hasRoom(): boolean {
  try {
    const {bavail, bsize} = statfsSync(MEMORY)
    return bavail * bsize >= ROOM && freemem() >= 2 * ROOM
  } catch {
    return false
  }
}

/** Without this, every process that opens a TLS connection reads the 140 CAs of Node.js first, for which no test asks. */
function useNoPublicAuthorities(): void {
  const options = process.env.NODE_OPTIONS?.split(' ') ?? []
  if (!options.includes('--use-openssl-ca'))
    process.env.NODE_OPTIONS = [...options, '--use-openssl-ca'].join(' ')
}

useMemory()
useNoPublicAuthorities()
// Every process would read all CAs of the machine at its start, for which no test asks: those that want some name their own.
delete process.env.NODE_EXTRA_CA_CERTS
