import {closeSync, constants, existsSync, openSync, rmSync} from 'node:fs'
import {join} from 'node:path'
import {TrustError} from '../../errors.ts'
import {unwritable} from '../../fs/file-checks.ts'
import {lockFolderWhenFree, lockHolder} from '../../fs/folder-lock.ts'
import {sleep} from '../../runtime.ts'

/**
 * A signer keeps its log open for as long as it runs, and a command adds a line now and then. Lines that two processes write at the same time
 * would break the chain. So each says that it wants to write before it looks whether the other one does; the signer lets a command go first.
 * What a killed process has left counts for nothing: the signer then asks who holds the lock of the commands, a command whether the signer lives.
 */
const marksIn = (folder: string) => ({
  writing: join(folder, 'writing'),
  wanted: join(folder, 'wanted'),
})

const PAUSE = 20
/** In milliseconds; far longer than a write takes. */
const LONGEST_WAIT = 30_000
const {O_CREAT, O_NOFOLLOW, O_WRONLY} = constants

function put(mark: string): void {
  try {
    closeSync(openSync(mark, O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600))
  } catch (error) {
    throw unwritable(mark, error)
  }
}

const remove = (mark: string): void => rmSync(mark, {force: true})

/** Waits until no command writes to the log. Returns what ends the signer's turn. `folder` is the one that both use for this. */
export async function signerTurn(folder: string): Promise<() => void> {
  const {writing, wanted} = marksIn(folder)
  for (;;) {
    put(writing)
    if (!existsSync(wanted) || !(await lockHolder(folder))) return () => remove(writing)
    remove(writing)
    await sleep(PAUSE)
  }
}

/** Writes to a log beside its signer, if that lives. */
export async function asCommand<Result>(
  folder: string,
  isSignerAlive: () => Promise<boolean>,
  write: () => Promise<Result>,
): Promise<Result> {
  const {writing, wanted} = marksIn(folder)
  const release = await lockFolderWhenFree(folder, {what: 'the same issuance log'})
  try {
    put(wanted)
    const end = performance.now() + LONGEST_WAIT
    while (existsSync(writing) && (await isSignerAlive())) {
      if (performance.now() > end) throw stillWriting()
      await sleep(PAUSE)
    }
    return await write()
  } finally {
    remove(wanted)
    await release()
  }
}

const stillWriting = (): TrustError =>
  new TrustError('CONFLICT', 'the server does not stop writing to the issuance log', {
    hints: ['run the command again; if it fails again, look at the log of the server'],
  })
