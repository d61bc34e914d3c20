import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {joinPhases, runJoin} from '../../src/node/join/join.ts'
import {systemClock} from '../../src/runtime.ts'
import type {Cluster} from './cluster.ts'

const silent = () => undefined
const PATIENCE = 20_000

/** Joins as `trustadm join` does, and gives the node's credentials. */
export async function joined(
  {endpoint, caCertHashes}: Cluster,
  token: string,
  folder: string,
  nodeName: string,
): Promise<{name: string; certificate: string; key: string}> {
  const dir = join(folder, nodeName)
  const discovery = {token, endpoints: [new URL(endpoint).host], caCertHashes}
  const settings = {dir, nodeName, discovery, token, certificateTimeout: PATIENCE}
  const request = {settings, clock: systemClock, tell: silent, note: silent, warn: silent}
  await runJoin(request, joinPhases())
  const pair = await readFile(join(dir, 'pki', 'kubelet-client-current.pem'), 'utf8')
  return {name: nodeName, certificate: pair, key: pair}
}
