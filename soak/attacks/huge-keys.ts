import {execFile} from 'node:child_process'
import {existsSync} from 'node:fs'
import {mkdir, readFile, rename, rm, writeFile} from 'node:fs/promises'
import {tmpdir, userInfo} from 'node:os'
import {join} from 'node:path'
import {promisify} from 'node:util'
import type {Attack, Identity} from '../attack.ts'
import {freshName, inTurn} from './bodies.ts'

const run = promisify(execFile)
/** Kept from run to run: the keys take half a minute. */
const FOLDER = join(tmpdir(), `trustadm-soak-keys-${userInfo().uid}`)
/** Of its own: the server keeps out an address that sends such chains, with all who share it. */
const ADDRESS = '127.0.0.2'
const LEAVES = 6
const CHAINS = [
  {bits: 16_384, length: 9},
  {bits: 16_384, length: 5},
  {bits: 8192, length: 7},
]

/** Chains that nobody believes, of keys that take long to check. */
export const hugeKeys: Attack = {
  name: 'huge-keys',
  aim: 'chains of RSA-16384 CAs, without credentials',
  prepare: makeAll,
  async run(field) {
    const identities = await readAll().catch(() => [])
    if (identities.length === 0) return field.count('no openssl here')
    await field.flood({perSecond: 20, atOnce: 4}, (number) => {
      // Another name is another connection, with its own handshake.
      const name = `huge-${number % 200}`
      return field.shoot({...inTurn(identities, number), name}, {path: '/api/v1/nodes'})
    })
  },
}

const folderOf = ({bits, length}: (typeof CHAINS)[number]) => join(FOLDER, `${bits}-${length}`)

async function makeAll(): Promise<void> {
  for (const chain of CHAINS) if (!existsSync(folderOf(chain))) await make(chain)
}

async function readAll(): Promise<Identity[]> {
  const read = (folder: string, leaf: number) =>
    Promise.all([
      readFile(join(folder, `${leaf}.pem`), 'utf8'),
      readFile(join(folder, 'leaf.key'), 'utf8'),
    ])
  const pairs = await Promise.all(
    CHAINS.flatMap((chain) =>
      Array.from({length: LEAVES}, (_, leaf) => read(folderOf(chain), leaf)),
    ),
  )
  return pairs.map(([certificate, key]) => ({name: '', certificate, key, address: ADDRESS}))
}

/** By openssl, which knows keys of several primes: those are made ten times as fast, and checked like all others. */
async function make(chain: (typeof CHAINS)[number]): Promise<void> {
  const {bits, length} = chain
  const folder = folderOf(chain)
  const place = `${folder}.${freshName('new')}`
  await mkdir(place, {recursive: true, mode: 0o700})
  const openssl = (...args: string[]) => run('openssl', args, {cwd: place})
  try {
    const primes = ['-pkeyopt', 'rsa_keygen_primes:5', '-pkeyopt', `rsa_keygen_bits:${bits}`]
    await openssl('genpkey', '-algorithm', 'RSA', ...primes, '-out', 'ca.key')
    await openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'leaf.key')
    const ca = (number: number) => `ca-${number}.crt`
    for (let number = 0; number < length; number++)
      await openssl(
        ...['req', '-x509', '-new', '-key', 'ca.key', '-subj', `/CN=ca-${number}`, '-days', '30'],
        ...(number === 0 ? [] : ['-CA', ca(number - 1), '-CAkey', 'ca.key']),
        ...['-out', ca(number)],
      )
    const authorities = await Promise.all(
      Array.from({length}, (_, number) => readFile(join(place, ca(length - 1 - number)), 'utf8')),
    )
    for (let leaf = 0; leaf < LEAVES; leaf++) await makeLeaf(leaf, ca(length - 1), authorities)
    await rename(place, folder)
  } finally {
    await rm(place, {recursive: true, force: true})
  }

  async function makeLeaf(leaf: number, issuer: string, above: string[]) {
    const subject = `/O=system:masters/CN=huge-${leaf}`
    await openssl('req', '-new', '-key', 'leaf.key', '-subj', subject, '-out', 'leaf.csr')
    const {stdout} = await openssl(
      ...['x509', '-req', '-in', 'leaf.csr', '-CA', issuer, '-CAkey', 'ca.key'],
      ...['-set_serial', String(leaf + 1), '-days', '30'],
    )
    await writeFile(join(place, `${leaf}.pem`), [stdout, ...above].join('\n'))
  }
}
