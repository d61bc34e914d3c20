/** Types of questions to the authenticator; parse.ts describes the format. */
export const AUTHENTICATION = `
TokenReview object | Asks who a token belongs to.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:TokenReviewSpec! required | What is wanted.
  3 status:TokenReviewStatus! | What is observed.

TokenReviewSpec | The token that is asked about.
  1 token:string | The token.
  2 audiences:[]string | Who says that the token is for them.

TokenReviewStatus | Who the token belongs to.
  1 authenticated:bool | Whether the token is good.
  2 user:UserInfo! | Who it belongs to.
  4 audiences:[]string | Who the token is for.
  3 error:string | Why it could not be checked.

UserInfo | A user as the server knows them.
  1 username:string | The user's name.
  2 uid:string | Its unique id.
  3 groups:[]string | The groups of the user.
  4 extra:map<ExtraValue> | What else is known of the user.

TokenRequest object | Asks for a token of a service account.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:TokenRequestSpec! required | What is wanted.
  3 status:TokenRequestStatus! | What is observed.

TokenRequestSpec | What the token should be.
  1 audiences:[]string! required | Who the token is for.
  4* expirationSeconds:int64! | How long it should be valid.
  3* boundObjectRef:BoundObjectReference! | The object that the token dies with.

BoundObjectReference | The object that a token dies with.
  1 kind:string | Its kind.
  2 apiVersion:string | Its group and version.
  3 name:string | Its name.
  4 uid:string(types.UID) | Its unique id.

TokenRequestStatus | The token.
  1 token:string! required | The token.
  2 expirationTimestamp:Time! required | When it ends.

SelfSubjectReview object | Asks who the caller is.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 status:SelfSubjectReviewStatus! | What is observed.

SelfSubjectReviewStatus | Who the caller is.
  1 userInfo:UserInfo! | The caller.
`
