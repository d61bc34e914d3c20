import {printable} from '../../client/printable.ts'
import type {CreatedToken, CreatedTokens} from '../../control-plane/tokens/created.ts'
import type {DeletedTokens} from '../../control-plane/tokens/delete.ts'
import type {TokenList, TokenReport} from '../../control-plane/tokens/list.ts'
import {shortHumanDuration} from '../../server/table/human-duration.ts'
import {formatColumns, type Narrowing} from '../columns.ts'
import type {View} from '../output.ts'

const SECOND = 1000
const COLUMNS = ['TOKEN', 'TTL', 'EXPIRES', 'USAGES', 'DESCRIPTION', 'EXTRA GROUPS']
const WIDE_COLUMNS = ['CREATED', 'STATE']
const [EXPIRES, USAGES, DESCRIPTION, GROUPS] = [2, 3, 4, 5] as const
const NARROWING: Narrowing = {
  least: new Map([
    [USAGES, 14],
    [DESCRIPTION, 11],
    [GROUPS, 12],
  ]),
  droppable: [GROUPS, EXPIRES, DESCRIPTION],
  // Groups differ at the end: all start with system:bootstrappers.
  cutFront: new Set([GROUPS]),
}
const AS_WIDE_AS_NEEDED: Narrowing = {least: new Map()}

/** Anyone who may write Secrets can write this: it must not move the cursor or add a line. */
const cell = (text: string): string => printable(text).replaceAll(/\s+/g, ' ').trim() || '<none>'

const ttl = (seconds: number | null): string =>
  seconds === null ? '<forever>' : shortHumanDuration(seconds * SECOND)

function row({token, ttlSeconds, expires, usages, description, groups}: TokenReport): string[] {
  return [
    token,
    ttl(ttlSeconds),
    expires ?? '<never>',
    cell(usages.join(',')),
    cell(description),
    cell(groups.join(',')),
  ]
}

const wideRow = (report: TokenReport): string[] => [
  ...row(report),
  report.created ?? '<unknown>',
  report.problems.length === 0 ? 'usable' : report.problems.join('; '),
]

/** kubeadm's table; `wide` adds when a token was created and its problems. */
export const tokenListView = (isWide: boolean): View<TokenList> => ({
  table: ({tokens}) =>
    isWide
      ? formatColumns([...COLUMNS, ...WIDE_COLUMNS], tokens.map(wideRow), AS_WIDE_AS_NEEDED)
      : formatColumns(COLUMNS, tokens.map(row), NARROWING),
  name: ({tokens}) => tokens.map(({id}) => id),
})

function planned({token, usages, expires}: CreatedToken): string {
  const end = expires === null ? 'that never expires' : `that expires at ${expires}`
  return `would create the token ${token} for ${usages.join(', ') || 'nothing'} ${end}\n`
}

export const createdTokensView: View<CreatedTokens> = {
  table({tokens, joinCommand, dryRun}) {
    if (dryRun) return tokens.map(planned).join('')
    if (joinCommand !== null) return `${joinCommand}\n`
    return tokens.map(({token}) => `${token}\n`).join('')
  },
  name: ({tokens}) => tokens.map(({id}) => id),
}

export const deletedTokensView = (isDryRun: boolean): View<DeletedTokens> => ({
  table: ({deleted}) =>
    deleted
      .map((id) =>
        isDryRun ? `would delete the token "${id}"\n` : `bootstrap token "${id}" deleted\n`,
      )
      .join(''),
  name: ({deleted}) => deleted,
})
