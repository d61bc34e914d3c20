import {readFileSync} from 'node:fs'
import fs from 'node:fs'
import {syncBuiltinESMExports} from 'node:module'
import {join} from 'node:path'

/**
 * Writes pairs until it is killed: from outside, or by itself right before its n-th step on the file system. Arguments:
 * the folder to write to, `replace` or `create`, the folder with the pairs, and n.
 */
const [target = '', how = '', pairs = '', killAt = '0'] = process.argv.slice(2)

let steps = 0
function step(): void {
  steps += 1
  if (steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
}

type Call = (...args: unknown[]) => unknown

/** Only calls that change something, and the syncs that order them. */
const CHANGES = [
  'open',
  'mkdir',
  'chmod',
  'rename',
  'rm',
  'renameSync',
  'linkSync',
  'rmSync',
  'rmdirSync',
]

for (const home of [fs, fs.promises] as unknown as Record<string, Call>[]) {
  for (const name of CHANGES.filter((one) => one.endsWith('Sync') === (home === (fs as unknown)))) {
    const call = home[name]
    if (!call) continue
    home[name] = (...args) => {
      step()
      return call(...args)
    }
  }
}
syncBuiltinESMExports()

const {createPair, replacePair} = await import('../../src/pki/pair-store.ts')
const place = {kind: 'pair', crt: 'leaf.crt', key: 'leaf.key'} as const
const materials = ['1', '2'].map((name) => ({
  certificatePem: readFileSync(join(pairs, `${name}.crt`), 'utf8'),
  keyPem: readFileSync(join(pairs, `${name}.key`), 'utf8'),
}))

steps = 0
process.stdout.write('ready\n')
for (let round = 1; round === 1 || killAt === '0'; round += 1) {
  const material = materials[round % 2]
  if (!material) throw new Error('there is no such pair')
  if (how === 'create') await createPair(target, place, material)
  else await replacePair(target, place, material)
}
process.stdout.write(`${steps} steps\n`)
