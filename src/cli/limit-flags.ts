import * as Flags from '@oclif/core/flags'

const MIB = 1024 * 1024

export const limitFlags = {
  'quota-backend-bytes': Flags.integer({
    min: 16 * MIB,
    helpValue: '<bytes>',
    summary: 'most bytes that all stored objects may take; 536870912 unless given',
  }),
  'certificate-requests-per-hour': Flags.integer({
    min: 1,
    helpValue: '<number>',
    summary:
      'most certificate requests that one requester, such as a bootstrap token, may make within an hour; 2500 unless given',
  }),
}
