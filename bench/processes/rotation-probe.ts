import {Agent, request} from 'node:https'
import {resolveAccess} from '../../src/client/kubeconfig-access.ts'
import {loadKubeconfig} from '../../src/client/kubeconfig-files.ts'
import type {ServerAccess} from '../../src/client/server-access.ts'
import {sleep} from '../../src/runtime.ts'
import {milliseconds} from '../rows.ts'
import {serveCalls} from './calls.ts'

const EVERY = 20

let isOver = true
let longest = 0
let loops: Promise<void>[] = []

/** Asks all the time, on one connection and on new ones. A request that fails ends the benchmark. */
async function start(kubeconfig: string): Promise<void> {
  const access = async () => resolveAccess(await loadKubeconfig(kubeconfig))
  isOver = false
  longest = 0
  const kept = new Agent({keepAlive: true, maxSockets: 1})
  await ask(await access(), kept)
  loops = [repeat(access, kept), repeat(access, false)]
}

/** The longest that a request took, in milliseconds. */
async function stop(): Promise<number> {
  isOver = true
  await Promise.all(loops)
  return longest
}

async function repeat(access: () => Promise<ServerAccess>, agent: Agent | false): Promise<void> {
  // An open connection keeps the credentials that it began with.
  const first = await access()
  while (!isOver) {
    const used = agent ? first : await access()
    longest = Math.max(longest, await milliseconds(() => ask(used, agent)))
    await sleep(EVERY)
  }
  if (agent) agent.destroy()
}

function ask({server, ca, clientCertificate}: ServerAccess, agent: Agent | false): Promise<void> {
  const {hostname: host, port} = new URL(server)
  const {certificate: cert, key} = clientCertificate ?? {}
  return new Promise((resolve, reject) => {
    request({host, port, ca, cert, key, agent, path: '/api/v1/namespaces/default'}, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`a client got ${response.statusCode}`))
      })
    })
      .once('error', reject)
      .end()
  })
}

const operations = {start, stop}
export type ProbeOperations = typeof operations

serveCalls(operations)
