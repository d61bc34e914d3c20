import type {RenewalReport} from '../../control-plane/renew.ts'
import {columnsOf, paragraph} from '../layout.ts'
import {formatTable} from '../table.ts'
import type {View} from '../output.ts'
import {moment} from './human-time.ts'

const line = (text: string): string => paragraph('', text, columnsOf(process.stdout))

export const renewalView: View<RenewalReport> = {
  table({renewed, skipped, backups, serverReloaded}) {
    const rows = renewed.map(({name, expirationDate}) => [name, moment(expirationDate)])
    return [
      ...(rows.length === 0 ? [] : [formatTable(['RENEWED', 'EXPIRES'], rows)]),
      ...skipped.map((name) =>
        line(`${name} was not renewed: the key of its CA is not on this machine`),
      ),
      ...[...new Set(backups)].map((folder) =>
        line(`your own certificates were moved to ${folder}`),
      ),
      ...(serverReloaded ? ['the running server uses the new certificates\n'] : []),
    ].join('')
  },
  name: ({renewed}) => renewed.map(({name}) => name),
}
