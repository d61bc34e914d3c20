import * as Flags from '@oclif/core/flags'
import {TrustCommand} from '../../cli/command.ts'
import {agentFlags} from '../../cli/node/agent-flags.ts'

export default class NodeRun extends TrustCommand {
  static override summary = "keep this machine's certificate and its trust in the cluster fresh"
  static override description = `Renews the certificate of a node that has joined before it expires, with a new key each time, and follows the cluster's CAs: cluster-info is read again every 5 to 10 minutes, and kubelet.conf, pki/ca.crt and cluster-info.yaml change together. Runs in the foreground until it is stopped; for systemd and containers. Nothing else renews a node, unless a kubelet does.

A failure never takes away what works: the old certificate stays in use, and the next attempt comes after 2 to 32 seconds, or when a busy server asks for it. SIGTERM and SIGINT end it; SIGHUP makes it look at everything again at once.
In /etc/kubernetes, where kubeadm joined the machine, it works with the kubelet's own files, and restarts the kubelet after it has changed them.
With --bootstrap-kubeconfig, a machine that has not joined joins first, and one whose certificate has expired gets a new one.
Prints one line, "ready" and the name of the node, on the standard output; the log goes to the standard error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    {
      description: 'Restart a daemon that uses the certificate or the CA bundle:',
      command: "<%= config.bin %> <%= command.id %> --on-change 'systemctl restart my-agent'",
    },
    {
      description: 'With cron instead of a service, every hour:',
      command: '<%= config.bin %> <%= command.id %> --once --quiet',
    },
  ]
  static override flags = {
    ...agentFlags,
    once: Flags.boolean({
      summary: 'do what is due now, then end',
      exclusive: ['metrics-address'],
    }),
    'metrics-address': Flags.string({
      helpValue: '<[host:]port>',
      summary:
        'serve metrics for Prometheus there, at /metrics; only for this machine unless a host is given',
    }),
  }

  async run(): Promise<void> {
    const {flags} = await this.parse(NodeRun)
    const {openNodeSession} = await import('../../cli/node/session.ts')
    const {openServerLog} = await import('../../cli/server-log.ts')
    const {runAgent, runAgentOnce} = await import('../../node/agent/run-agent.ts')
    const {parseMetricsAddress} = await import('../../node/agent/metrics-server.ts')
    const {stopSignal} = await import('../../cli/stop-signal.ts')
    const address = flags['metrics-address']
    const metricsAddress = address === undefined ? undefined : parseMetricsAddress(address)
    if (flags['bootstrap-kubeconfig'] !== undefined) {
      const {joinFirst} = await import('../../cli/node/join-first.ts')
      await joinFirst(flags, this.clock)
    }
    const log = openServerLog({clock: this.clock, quiet: flags.quiet})
    const session = await openNodeSession(flags, {clock: this.clock, log})
    if (flags.once) return await runAgentOnce(session, new AbortController().signal)
    const stop = stopSignal(log)
    const onReady = ({look, metrics}: {look: () => void; metrics: string | undefined}) => {
      stop.onHangup(look)
      if (metrics !== undefined) log(`metrics are served at http://${metrics}/metrics`)
      process.stdout.write(`ready ${session.home.nodeName}\n`)
    }
    await runAgent({...session, metricsAddress, onReady}, stop.signal)
    log('stopped')
  }
}
