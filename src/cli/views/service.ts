import type {ServiceReport} from '../../control-plane/service.ts'
import type {View} from '../output.ts'

const WHERE: Record<string, string> = {
  background: '',
  foreground: ' in the foreground',
  systemd: ' under systemd',
}

function started({changed, endpoint, pid, runner}: ServiceReport): string {
  if (changed) return `the server is ready at ${endpoint} (process ${pid ?? 0})\n`
  return `the server is already running${WHERE[runner ?? ''] ?? ''} (process ${pid ?? 0})\n`
}

function stopped({changed, pid}: ServiceReport): string {
  return changed ? `stopped the server (process ${pid ?? 0})\n` : 'the server is not running\n'
}

export const serviceView: View<ServiceReport> = {
  table: (report) => (report.running ? started(report) : stopped(report)),
  name: ({endpoint}) => [endpoint],
}
