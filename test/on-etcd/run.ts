import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {startEtcd, type EtcdCluster} from '../helpers/etcd.ts'

/**
 * Runs a command while a real etcd is the store of every control plane that the built program sets up:
 * `node --import tsx test/on-etcd/run.ts mocha …`.
 */
const [command = '', ...args] = process.argv.slice(2)
const preload = fileURLToPath(new URL('preload.cjs', import.meta.url))
const prefixes = await mkdtemp(join(tmpdir(), 'trustadm-prefixes-'))
const etcd = await startEtcd()
try {
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      TRUSTADM_TEST_ETCD: etcd.servers.join(','),
      TRUSTADM_TEST_PREFIXES: prefixes,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --require ${preload}`.trim(),
    },
  })
  // Ctrl-C reaches both: etcd is stopped once the tests have ended.
  process.on('SIGINT', () => undefined)
  const [code] = (await once(child, 'exit')) as [number | null]
  process.exitCode = code ?? 1
  // A process that does not load the file above uses the embedded store, and passes.
  if (!(await isWrittenTo(etcd))) {
    process.stderr.write('no control plane has used etcd\n')
    process.exitCode = 1
  }
} finally {
  await etcd.stop()
  await rm(prefixes, {recursive: true, force: true})
}

/** A new etcd has the revision 1. */
async function isWrittenTo({servers: [url = '']}: EtcdCluster): Promise<boolean> {
  const answer = await fetch(`${url}/v3/kv/range`, {method: 'POST', body: '{"key":"AA=="}'})
  const {header} = (await answer.json()) as {header: {revision: string}}
  return Number(header.revision) > 1
}
