import {createSocket} from 'node:dgram'
import {readFile} from 'node:fs/promises'
import {arch, networkInterfaces, platform, release} from 'node:os'
import type {NodeAddress, NodeSystemInfo} from '../api/node.ts'

/** Go's names, which labels and nodeInfo use. */
const ARCHITECTURES: Record<string, string> = {x64: 'amd64', ia32: '386', ppc64: 'ppc64le'}
const SYSTEMS: Record<string, string> = {win32: 'windows', sunos: 'solaris'}

export const operatingSystem = (): string => SYSTEMS[platform()] ?? platform()
export const architecture = (): string => ARCHITECTURES[arch()] ?? arch()

/** Empty if this machine does not tell. */
async function lineOf(...paths: string[]): Promise<string> {
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => '')
    if (text.trim() !== '') return text.trim()
  }
  return ''
}

async function osImage(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const [, name] = /^PRETTY_NAME="?([^"\n]*)"?$/m.exec(text) ?? []
  return name ?? operatingSystem()
}

/** What a kubelet reports about its machine. No kubelet and no container runtime run here, so neither has a version. */
export async function systemInfo(): Promise<NodeSystemInfo> {
  const [machineID, systemUUID, bootID, image] = await Promise.all([
    lineOf('/etc/machine-id', '/var/lib/dbus/machine-id'),
    lineOf('/sys/class/dmi/id/product_uuid', '/sys/hypervisor/uuid'),
    lineOf('/proc/sys/kernel/random/boot_id'),
    osImage(),
  ])
  return {
    machineID,
    systemUUID,
    bootID,
    kernelVersion: release(),
    osImage: image,
    containerRuntimeVersion: '',
    kubeletVersion: '',
    kubeProxyVersion: '',
    operatingSystem: operatingSystem(),
    architecture: architecture(),
  }
}

/** The address of this machine on the route to the server. Nothing is sent: only the kernel is asked. */
async function addressToward(server: string): Promise<string | undefined> {
  const {hostname, port} = new URL(server)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.connect(Number(port || 443), host, resolve)
    })
    return socket.address().address
  } catch {
    return undefined
  } finally {
    socket.close()
  }
}

function firstAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outside = all.filter(({internal, address}) => !internal && !address.startsWith('fe80:'))
  return (outside.find(({family}) => family === 'IPv4') ?? outside[0])?.address
}

/** As a kubelet registers them: the address that the cluster sees, and the name. */
export async function nodeAddresses(node: string, server: string): Promise<NodeAddress[]> {
  const internal = (await addressToward(server)) ?? firstAddress()
  return [
    ...(internal === undefined ? [] : [{type: 'InternalIP', address: internal}]),
    {type: 'Hostname', address: node},
  ]
}
