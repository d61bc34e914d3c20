'use strict'
/**
 * Loaded into every process of the tests by NODE_OPTIONS, see run.ts. Each new control plane of the built program gets the etcd of
 * $TRUSTADM_TEST_ETCD as its store, with a prefix of its own. One that exists, or that names a store, is left alone. Prefixes are kept in
 * the folder $TRUSTADM_TEST_PREFIXES until a `reset`: several that run `init` at once in one folder mean the same control plane.
 */
const {createHash, randomBytes} = require('node:crypto')
const {existsSync, readFileSync, rmSync, writeFileSync} = require('node:fs')
const {homedir} = require('node:os')
const {join, resolve} = require('node:path')
const process = require('node:process')

const servers = process.env.TRUSTADM_TEST_ETCD
const [, program = '', command] = process.argv

function isNamed(name) {
  return process.argv.some((word) => word === name || word.startsWith(`${name}=`))
}

function dirOf(words) {
  const at = words.indexOf('--dir')
  const named = words.find((word) => word.startsWith('--dir='))?.slice('--dir='.length)
  const given = at === -1 ? named : words[at + 1]
  const isRoot = process.geteuid?.() === 0
  const own = isRoot ? '/var/lib/trustadm' : join(homedir(), '.trustadm')
  return resolve(given ?? process.env.TRUSTADM_DIR ?? own)
}

function fileFor(dir) {
  const name = createHash('sha256').update(dir).digest('hex')
  return join(process.env.TRUSTADM_TEST_PREFIXES, name)
}

function prefixOf(dir) {
  const file = fileFor(dir)
  try {
    writeFileSync(file, `/test/${randomBytes(8).toString('hex')}`, {flag: 'wx'})
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  return readFileSync(file, 'utf8')
}

const isOurs = servers !== undefined && /[\\/](run\.js|trustadm)$/.test(program)
const isElsewhere = ['--kubeconfig', '--etcd-servers', '--help', '--'].some(isNamed)
const dir = dirOf(process.argv)
const isNew = () => !isElsewhere && !existsSync(join(dir, 'config.yaml'))
if (isOurs && command === 'init' && isNew()) {
  process.argv.push('--etcd-servers', servers, '--etcd-prefix', prefixOf(dir))
}
if (isOurs && command === 'reset') rmSync(fileFor(dir), {force: true})
