import {execFile} from 'node:child_process'

/** What makes the kubelet of this machine read its certificates and its CA again: it does that only when it starts. */
export const RESTART_KUBELET = 'systemctl restart kubelet.service'

const LONGEST = 30_000

/** As systemd sees the kubelet. `unknown`: there is no systemd here, or it does not run the kubelet. */
export type KubeletState = 'running' | 'stopped' | 'unknown'

/** Asks as kubeadm does. One that fails again and again counts as running: it may lack what has just been written. */
export async function kubeletState(): Promise<KubeletState> {
  const [word] = await systemctl('is-active')
  if (['active', 'activating', 'reloading', 'deactivating', 'failed'].includes(word))
    return 'running'
  // systemd says the same of a unit that it does not know.
  if (word !== 'inactive') return 'unknown'
  const [, isKnown] = await systemctl('cat')
  return isKnown ? 'stopped' : 'unknown'
}

const systemctl = async (verb: string): Promise<[output: string, succeeded: boolean]> =>
  await new Promise((resolve) => {
    execFile('systemctl', [verb, 'kubelet.service'], {timeout: LONGEST}, (error, stdout) =>
      resolve([stdout.trim(), error === null]),
    )
  })
