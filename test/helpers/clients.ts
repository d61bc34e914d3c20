import {execFileSync} from 'node:child_process'
import {accessSync, constants} from 'node:fs'
import {delimiter, join} from 'node:path'
import {fileURLToPath} from 'node:url'

const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

const onPath = (): string[] => (process.env.PATH ?? '').split(delimiter).filter(Boolean)

const named = (): string[] => {
  const folder = process.env.TRUSTADM_TEST_CLIENTS
  return folder ? [join(folder, 'bin')] : []
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const findIn = (folders: string[], name: string): string | undefined =>
  folders.map((folder) => join(folder, name)).find(isExecutable)

/** A program that tests run: from the folder that is named for them, the project's own, or PATH. */
export const findClient = (name: string): string | undefined =>
  findIn([...named(), join(PROJECT, '.clients', 'bin'), ...onPath()], name)

/** `kubectl-1.36`, or a plain `kubectl` on PATH that happens to be of that version. */
function findKubectl(version: string): string | undefined {
  const exact = findClient(`kubectl-${version}`)
  if (exact) return exact
  const plain = findIn(onPath(), 'kubectl')
  return plain && versionOf(plain) === version ? plain : undefined
}

function versionOf(kubectl: string): string | undefined {
  try {
    const text = execFileSync(kubectl, ['version', '--client', '-o', 'json'], {encoding: 'utf8'})
    return /"gitVersion": "v(\d+\.\d+)\./.exec(text)?.[1]
  } catch {
    return undefined
  }
}

/**
 * A suite that works with a real kubectl of that version. Without it the suite is skipped whole, hooks included, and it says why.
 * `npm run test:clients` selects these suites by the start of their titles.
 */
export function describeWithKubectl(
  version: string,
  area: string,
  tests: (this: Mocha.Suite, binary: string) => void,
): void {
  const binary = findKubectl(version)
  if (binary === undefined) sayMissing(`kubectl-${version}`)
  const suite = binary === undefined ? describe.skip : describe
  suite(`real kubectl ${version}: ${area}`, function () {
    tests.call(this, binary ?? '')
  })
}

const said = new Set<string>()

/** Says once why tests are skipped. */
export function sayMissing(name: string): void {
  if (said.has(name)) return
  said.add(name)
  console.warn(
    `skipped: no ${name} on PATH, in .clients/bin or in the bin folder of $TRUSTADM_TEST_CLIENTS`,
  )
}
