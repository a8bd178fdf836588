import Foundation

/// A user's name and password as Basic and Digest use them: in the normal form C that RFC 7616 §4 and RFC 7617 §2.1 ask for.
///
/// Neither shows in a description, a dump or a mirror.
struct UserCredentials: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let name: String
    let password: String

    init(name: String, password: String) {
        self.name = name.precomposedStringWithCanonicalMapping
        self.password = password.precomposedStringWithCanonicalMapping
    }

    var description: String { "a user and a password" }
    var debugDescription: String { description }
    var customMirror: Mirror { Mirror(self, children: []) }
}
