import type {PolicyRule, Subject} from '../../../api/rbac.ts'

/** A role's line and the rules under it. */
export interface RoleText {
  name: string
  /** `key=value` words behind the name. */
  marks: Record<string, string>
  rules: PolicyRule[]
}

export interface BindingText {
  name: string
  role: string
  subjects: Subject[]
}

const RBAC_GROUP = 'rbac.authorization.k8s.io'

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

const words = (text: string) => text.split(' ').filter((word) => word !== '')

export function parseRoles(text: string): RoleText[] {
  const roles: RoleText[] = []
  for (const line of linesOf(text)) {
    if (line.startsWith(' ')) {
      roles.at(-1)?.rules.push(parseRule(line))
    } else {
      const [name = '', ...marks] = words(line)
      roles.push({
        name,
        marks: Object.fromEntries(marks.map((mark) => mark.split('=') as [string, string])),
        rules: [],
      })
    }
  }
  return roles
}

function parseRule(line: string): PolicyRule {
  const [verbText = '', second = '', third = '', fourth] = line
    .split('|')
    .map((part) => part.trim())
  const verbs = verbText.split(',')
  if (second.startsWith('URLs ')) return {verbs, nonResourceURLs: words(second).slice(1)}
  return {
    verbs,
    apiGroups: second.split(',').map((group) => (group === '""' ? '' : group)),
    resources: third.split(','),
    ...(fourth === undefined ? {} : {resourceNames: fourth.replace('names ', '').split(',')}),
  }
}

export function parseBindings(text: string): BindingText[] {
  return linesOf(text).map((line) => {
    const [name = '', rest = ''] = line.split(' -> ')
    // Names may contain colons: only a colon followed by a blank ends the role's name.
    const [role = '', subjects = ''] = rest.split(': ')
    return {
      name,
      role,
      subjects: subjects === '(no subjects)' ? [] : subjects.split(', ').map(parseSubject),
    }
  })
}

function parseSubject(text: string): Subject {
  const [kind, name = ''] = words(text)
  if (kind !== 'ServiceAccount') {
    return {kind: kind === 'Group' ? 'Group' : 'User', apiGroup: RBAC_GROUP, name}
  }
  const [namespace = '', account = ''] = name.split('/')
  return {kind, name: account, namespace}
}
