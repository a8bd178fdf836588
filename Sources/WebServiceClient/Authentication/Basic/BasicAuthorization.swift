import Foundation

/// Writes the value of `Authorization` for Basic (RFC 7617 §2).
enum BasicAuthorization {
    /// The field's value, from the UTF-8 bytes of name and password in normal form C.
    /// - Throws: ``AuthenticationError`` if the name holds a colon, or the name or the password a control character.
    static func value(user: UserCredentials) throws(AuthenticationError) -> String {
        guard !user.name.utf8.contains(UInt8(ascii: ":")) else {
            throw AuthenticationError(
                .unusableUserName,
                message: """
                    The user name for Basic authentication holds a colon, which the server would take for the start of the password: \
                    use a name without one.
                    """)
        }
        guard !hasControlCharacters(user.name) else {
            throw AuthenticationError(.unusableUserName, message: Self.controlCharacter(in: "user name"))
        }
        guard !hasControlCharacters(user.password) else {
            throw AuthenticationError(.unusablePassword, message: Self.controlCharacter(in: "password"))
        }
        return "Basic " + Data("\(user.name):\(user.password)".utf8).base64EncodedString()
    }

    private static func controlCharacter(in part: String) -> String {
        "The \(part) for Basic authentication holds a control character (RFC 7617 §2): remove it; often it is a line break at the end."
    }

    /// RFC 7617 takes the CTL of RFC 5234; the C1 controls are refused with them.
    private static func hasControlCharacters(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
