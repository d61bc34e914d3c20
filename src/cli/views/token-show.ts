import type {TokenDetails} from '../../control-plane/token-show.ts'
import type {Field} from '../layout.ts'
import type {View} from '../output.ts'
import {cell, fields, lastUse, moment, obtainedTable, waiting} from './obtained.ts'

const aboutToken = ({token}: TokenDetails): Field[] =>
  token === null
    ? [['state', 'deleted']]
    : [
        ['state', token.problems.length === 0 ? 'usable' : token.problems.map(cell).join('; ')],
        ['created', moment(token.created)],
        ['expires', token.expires ?? '<never>'],
        ['usages', token.usages.join(', ') || '<none>'],
        ['groups', token.groups.map(cell).join(', ') || '<none>'],
        ['description', cell(token.description)],
      ]

export const tokenView: View<TokenDetails> = {
  table: (shown) =>
    fields([
      ['id', shown.id],
      ...aboutToken(shown),
      ['last used', lastUse(shown.lastUsed, {isLogRead: shown.obtained !== null})],
      ['pending', waiting(shown.pending)],
    ]) + obtainedTable(shown.obtained),
  name: ({id}) => [id],
}
