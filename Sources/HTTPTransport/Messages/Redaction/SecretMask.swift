package import Foundation

/// Masks secrets in the parts of a message: fields, URLs and bodies. It applies ``SecretRules``.
package enum SecretMask {
    /// The replacement for a secret.
    package static let mask = "<masked>"

    /// Fields whose values are URLs.
    private static let urlNames: Set<String> = ["location", "content-location", "referer", "odata-entityid"]

    /// Authentication schemes that are shown before the mask. Any other first word may be part of a secret.
    private static let schemes: Set<String> = [
        "basic", "bearer", "digest", "dpop", "negotiate", "ntlm", "token", "apikey", "oauth", "hawk", "hoba", "mutual", "splunk",
        "aws4-hmac-sha256",
        "sharedkey", "sharedkeylite", "scram-sha-256", "vapid", "gnap", "key", "genie-key", "googlelogin",
    ]

    /// Words that make a name secret if the name contains them. In lower case and without `-`, `_`, `.` and spaces.
    package static let words = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "apikey", "accesskey", "privatekey", "subscriptionkey",
        "functionskey", "authkey", "accountkey", "sharedkey", "signingkey", "encryptionkey", "masterkey", "sessionid", "jwt", "signature",
        "credential", "authorization", "cookie", "authenticationinfo", "csrf", "xsrf", "bearer", "clientassertion", "codeverifier",
        "devicecode", "verificationcode", "recoverycode", "samlresponse", "samlassertion", "oauthverifier", "sessid", "creds", "mnemonic",
        "seedphrase", "connectionstring", "cardnumber",
        "appkey", "applicationkey", "licensekey", "saskey", "storagekey", "hmackey", "sshkey", "deploykey", "webhookkey", "sessionkey",
        "clientkey", "consumerkey", "serverkey", "recoverykey", "rsakey", "tlskey", "sslkey", "privkey", "aeskey", "wrappingkey",
        "symmetrickey", "writekey", "passkey",
        "securitycode", "authcode", "accesscode", "otpcode", "mfacode", "smscode", "pincode", "onetimecode", "twofactorcode", "backupcode",
        "resetcode", "activationcode", "unlockcode", "logincode",
        "dbpass", "userpass", "smtppass", "mailpass", "ftppass", "sshpass", "keypass", "storepass", "adminpass", "rootpass", "userpw",
        "pswd", "passwort", "kennwort", "motdepasse", "contrase", "wachtwoord", "senha",
    ]

    /// Names that are secret only as a whole, or as the last word of a name with delimiters: `db_pass`, `user[pin]`. At most four bytes.
    package static let wholeNames = [
        "pw", "pass", "auth", "cvv", "cvc", "cvv2", "cvc2", "pin", "otp", "totp", "sid", "psk", "hmac", "cred", "ssn",
    ]

    // MARK: Names

    /// Whether the value of a field is secret, which is true of every field that isn't known to be harmless.
    package static func hides(_ name: HTTPFields.Name, rules: HeaderRules = .standard) -> Bool {
        !rules.shows(name)
    }

    /// Whether a field's name contains a word such as `token`, or the field carries credentials.
    package static func namesSecret(_ name: HTTPFields.Name) -> Bool {
        let text = name.canonicalName
        return hidesParameter(named: text) || text.hasPrefix("x-") && hidesMember(named: String(text.dropFirst(2)))
    }

    /// Whether the value of a query or form parameter with this name is secret. An `assertion` is a grant (RFC 7521 §4.1).
    package static func hidesParameter(named name: String) -> Bool {
        ["appid", "assertion", "session"].contains(name.lowercased()) || SecretRules.standard.hides(name)
    }

    /// Whether the value of this name in a body, or the argument with this label, is secret. `key` and `code` are too common there to
    /// count.
    package static func hidesMember(named name: String) -> Bool {
        SecretRules.standard.hides(name, isParameter: false)
    }

    // MARK: Texts

    /// Returns the field's value with its secrets masked. A field that isn't known to be harmless is masked as a whole, except for the
    /// scheme of `Authorization`.
    package static func text(
        of field: HTTPFields.Field, rules: HeaderRules = .standard, secrets: RequestSecrets? = nil
    ) -> String {
        guard hides(field.name, rules: rules) else { return shownText(of: field, secrets) }
        guard !field.value.isEmpty else { return "" }
        if field.name == .authorization || field.name == .proxyAuthorization, let blank = field.value.unicodeScalars.firstIndex(of: " ") {
            let scheme = String(field.value[..<blank])
            if schemes.contains(scheme.lowercased()) { return scheme + " " + mask }
        }
        return mask
    }

    /// Returns the field's value with its secrets masked, for recordings that are played back. The field is masked as a whole only if its
    /// name contains a word such as `token`.
    package static func recordedText(of field: HTTPFields.Field) -> String {
        namesSecret(field.name) ? text(of: field) : shownText(of: field, nil)
    }

    private static func shownText(of field: HTTPFields.Field, _ secrets: RequestSecrets?) -> String {
        urlNames.contains(field.name.canonicalName) ? text(ofURL: field.value, of: secrets) : text(field.value, of: secrets)
    }

    /// Returns the text with its secrets masked.
    package static func text(_ text: String) -> String { SecretRules.standard.masked(text) }

    /// Returns the text with the secrets of this mask and of a request masked. Both searches use the original text, because a partial mask
    /// by one of them would hide the rest of the secret from the other.
    package static func text(_ text: String, of secrets: RequestSecrets?) -> String {
        SecretRules.standard.replacement(of: text, adding: secrets?.ranges(in: text) ?? []) ?? text
    }

    /// Returns the text of a body with its secrets masked: in form items, parts of multipart forms, JSON members, XML elements,
    /// `name=value` text, and tokens of a known form.
    package static func text(ofBody body: String, contentType: String?, of secrets: RequestSecrets? = nil) -> String {
        text(isForm(contentType) ? maskedPairs(body[...]) : body, of: secrets)
    }

    fileprivate static func isForm(_ contentType: String?) -> Bool {
        contentType?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
    }

    /// The number of bytes searched beyond the shown ones, because a secret that is cut in half can't be recognized.
    package static let margin = 4_096

    /// Returns the beginning of a body with its secrets masked.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes to show.
    ///   - isCut: Whether the data is only the beginning of the body. Its last word is then omitted, because it may be half of a secret.
    package static func beginning(
        ofBody body: Data, contentType: String?, upTo limit: Int, isCut: Bool, of secrets: RequestSecrets? = nil
    ) -> (text: String, isWhole: Bool) {
        let isCut = isCut || body.count > limit + margin
        let bytes = body.prefix(limit + margin)
        let text = String(decoding: isCut ? withoutLastWord(bytes) : bytes, as: UTF8.self)
        let masked = Self.text(ofBody: text, contentType: contentType, of: secrets)
        // A position within a character is rounded down to the character's start.
        let end = masked.utf8.index(masked.startIndex, offsetBy: limit, limitedBy: masked.endIndex) ?? masked.endIndex
        return (String(masked[..<end]), end == masked.endIndex && !isCut)
    }

    /// Returns the data without its last word and without groups of digits at its end, which may be part of a card number. If the first of
    /// these groups ends a word, the whole word is omitted.
    private static func withoutLastWord(_ bytes: Data) -> Data {
        let rest = bytes.dropLast(lengthOfLastWord(bytes))
        let digits = rest.reversed().prefix { $0.isDigit || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "-") }.count
        guard let first = rest.suffix(digits).first, first != UInt8(ascii: " ") else { return rest.dropLast(digits) }
        let words = rest.dropLast(digits)
        return words.dropLast(lengthOfLastWord(words))
    }

    private static func lengthOfLastWord(_ bytes: Data) -> Int {
        bytes.reversed().prefix { $0.isAlphanumeric || "-._~+/=%\\".utf8.contains($0) || $0 >= 0x80 }.count
    }

    // MARK: URLs

    /// Returns the text of a URL without user info, with secret query values and tokens of a known form masked.
    package static func text(of url: URL) -> String {
        text(ofURL: url.absoluteString)
    }

    /// Returns the URL of a request with its secrets masked, including arguments whose labels mark them as secret.
    package static func text(of request: ServiceRequest) -> String {
        text(of: request.url, of: request.secrets)
    }

    /// Returns a URL with the secrets of this mask and of a request masked.
    package static func text(of url: URL, of secrets: RequestSecrets?) -> String {
        text(ofURL: url.absoluteString, of: secrets)
    }

    /// Returns the text of a URL with its secrets masked, also in its fragment, where sign-in pages return tokens.
    package static func text(ofURL url: String) -> String {
        text(ofURL: url, of: nil)
    }

    /// Returns the text of a URL with the secrets of this mask and of a request masked.
    package static func text(ofURL url: String, of secrets: RequestSecrets?) -> String {
        var result = url
        if let start = authorityStart(of: result) {
            // Searches scalars, because a combining mark would form one character with the delimiter and hide it.
            let authority = result.unicodeScalars[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
            if let at = authority.lastIndex(of: "@") {
                result.replaceSubrange(start..<at, with: mask)
            }
        }
        let scalars = result.unicodeScalars
        let hash = scalars.firstIndex(of: "#") ?? scalars.endIndex
        var masked = String(result[..<hash])
        if let question = scalars[..<hash].firstIndex(of: "?") {
            let query = scalars.index(after: question)
            masked = result[..<query] + maskedPairs(result[query..<hash])
        }
        if hash < result.endIndex { masked += "#" + maskedPairs(result[scalars.index(after: hash)...]) }
        return text(masked, of: secrets)
    }

    /// The beginning of the authority of a URL, also without a scheme, or with mistyped delimiters after `http` or `https`; `nil` for a
    /// path.
    private static func authorityStart(of url: String) -> String.Index? {
        let text = url.utf8
        let first = text.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        if let mark = url.range(ofMark: "://"), mark.lowerBound < first.endIndex { return mark.upperBound }
        if text.starts(with: "//".utf8) { return text.index(text.startIndex, offsetBy: 2) }
        if let delimiter = text.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }),
            ["http", "https"].contains(url[..<delimiter].lowercased())
        {
            return text[delimiter...].firstIndex { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
        }
        // `user:password@host`: the scheme is missing.
        guard let at = first.lastIndex(of: UInt8(ascii: "@")), first[..<at].contains(UInt8(ascii: ":")) else { return nil }
        return text.startIndex
    }

    private static func maskedPairs(_ pairs: Substring) -> String {
        pairs.unicodeScalars.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            secretPair(pair).map { $0.name + "=" + mask } ?? String(pair)
        }
        .joined(separator: "&")
    }

    /// Returns the decoded values of secret parameters. Short values of names such as `code`, which are often harmless, are left out: they are
    /// words of other texts.
    fileprivate static func secretValues(inPairs pairs: Substring) -> [String] {
        pairs.unicodeScalars.split(separator: "&").compactMap { pair in
            guard let (name, value) = secretPair(pair) else { return nil }
            guard value.utf8.count >= 12 || hidesMember(named: name.removingPercentEncoding ?? name) else { return nil }
            return value.replacing("+", with: " ").removingPercentEncoding ?? value
        }
    }

    /// Returns the name and the value, as written, of a pair with a secret; `nil` for other pairs.
    private static func secretPair(_ pair: Substring.UnicodeScalarView) -> (name: String, value: String)? {
        guard let equals = pair.firstIndex(of: "=") else { return nil }
        let name = String(pair[..<equals])
        // A route's placeholder isn't a value.
        let isPlaceholder = pair[equals...].starts(with: "=%%".unicodeScalars)
        guard hidesParameter(named: name.removingPercentEncoding ?? name), !isPlaceholder else { return nil }
        return (name, String(pair[pair.index(after: equals)...]))
    }
}

/// The secrets of a request that can't be recognized in its texts: the values of arguments with labels such as `token`. Also holds the
/// client's rules for header fields.
package final class RequestSecrets: Sendable, Hashable {
    /// The client's rules for header fields.
    package let rules: HeaderRules
    /// UTF-8 texts that are masked everywhere, longest first.
    private let texts: [[UInt8]]

    /// Returns `nil` if the standard rules are sufficient.
    package convenience init?(rules: HeaderRules, texts: [String]) {
        var all: Set<String> = []
        for text in texts where !text.isEmpty {
            // Forms encode more characters than URLs, and spaces in two ways.
            let field = URLEncoding.formField(text)
            all.formUnion([text, URLEncoding.pathSegment(text), field, field.replacing("+", with: "%20")])
        }
        guard rules != .standard || !all.isEmpty else { return nil }
        self.init(rules: rules, all)
    }

    /// Creates secrets from the ``exactTexts`` of others; `nil` if the standard rules are sufficient.
    package convenience init?(rules: HeaderRules, exactTexts texts: [String]) {
        let all = Set(texts.filter { !$0.isEmpty })
        guard rules != .standard || !all.isEmpty else { return nil }
        self.init(rules: rules, all)
    }

    private init(rules: HeaderRules, _ all: Set<String>) {
        self.rules = rules
        self.texts = all.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }.map { Array($0.utf8) }
    }

    /// The texts that are masked, including their encoded forms.
    package var exactTexts: [String] { texts.map { String(decoding: $0, as: UTF8.self) } }
    private init(rules: HeaderRules, sorted texts: [[UInt8]]) {
        self.rules = rules
        self.texts = texts
    }

    /// Returns secrets that also mask these texts; `nil` if there is nothing to mask.
    package static func adding(_ texts: [String], to secrets: RequestSecrets?) -> RequestSecrets? {
        guard let added = RequestSecrets(rules: secrets?.rules ?? .standard, texts: texts) else { return secrets }
        guard let secrets else { return added }
        let all = Set(secrets.texts).union(added.texts).sorted {
            $0.count == $1.count ? $1.lexicographicallyPrecedes($0) : $0.count > $1.count
        }
        return RequestSecrets(rules: secrets.rules, sorted: all)
    }

    /// Returns the credentials in the fields of a request, as a server may repeat them: keys, tokens without their scheme, passwords of
    /// Basic, and cookies. Texts of less than six bytes, and cookies of less than twelve, are left out, because they are words of other
    /// texts.
    package static func credentials(in fields: HTTPFields, _ rules: HeaderRules) -> [String] {
        let found = fields.flatMap { field -> [String] in
            if field.name == .cookie {
                return field.value.split(separator: ";").map { String($0.drop { $0 != "=" }.dropFirst()) }.filter { $0.utf8.count >= 12 }
            }
            let isLogin = field.name == .authorization || field.name == .proxyAuthorization
            guard isLogin || rules.secret.contains(field.name) || SecretMask.namesSecret(field.name) else { return [] }
            guard isLogin, let blank = field.value.firstIndex(of: " ") else { return [field.value] }
            let rest = String(field.value[field.value.index(after: blank)...])
            guard field.value[..<blank].lowercased() == "basic", let pair = Data(base64Encoded: rest) else { return [rest] }
            return [rest, String(String(decoding: pair, as: UTF8.self).drop { $0 != ":" }.dropFirst())]
        }
        return found.filter { $0.utf8.count >= 6 }
    }

    /// Returns the secrets in the URL of a request, as a server may repeat them: the password, or the user without one, and the values of
    /// secret parameters.
    package static func credentials(in url: URL) -> [String] {
        var found = [url.password(percentEncoded: false) ?? url.user(percentEncoded: false)].compactMap(\.self)
        if let query = url.query(percentEncoded: true) { found += SecretMask.secretValues(inPairs: query[...]) }
        return Array(found.filter(isRecognizable).prefix(mostSecrets))
    }

    /// The limit of a body that is searched for secrets.
    private static let longestBody = 16 * 1024
    /// The number of secrets that are used of a URL or a body: each is searched for in the answer.
    private static let mostSecrets = 16

    /// Whether a text can be told from the words and numbers of other texts.
    private static func isRecognizable(_ text: String) -> Bool {
        guard text.utf8.count >= 6 else { return false }
        return text.utf8.count >= 12 || !(text.utf8.allSatisfy(\.isDigit) || text.utf8.allSatisfy { (0x61...0x7A).contains($0) })
    }

    /// Returns the secrets in a text body in memory, as a server may repeat them.
    package static func credentials(in body: RequestBody) -> [String] {
        guard let length = body.length, (6...Int64(longestBody)).contains(length), let data = body.data else { return [] }
        let text = String(decoding: data, as: UTF8.self)
        let isForm = SecretMask.isForm(body.contentType)
        let found = isForm ? SecretMask.secretValues(inPairs: text[...]) : SecretRules.standard.secrets(in: text)
        return found.filter(isRecognizable).prefix(mostSecrets).flatMap { secret in
            // JSON escapes characters that the server repeats as they are.
            let plain = secret.contains("\\") ? try? JSONDecoder().decode(String.self, from: Data("\"\(secret)\"".utf8)) : nil
            return [secret] + (plain.map { [$0] } ?? [])
        }
    }

    /// Whether both hide the same texts and use the same rules.
    package static func == (left: RequestSecrets, right: RequestSecrets) -> Bool {
        left === right || left.rules == right.rules && left.texts == right.texts
    }

    /// Hashes the hidden texts.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(texts)
    }

    /// Masks the secrets in a text.
    package func masked(_ text: String) -> String {
        let found = ranges(in: text)
        return found.isEmpty ? text : text.withBytes { SecretRules.text(of: $0, masking: found) }
    }

    /// Returns the UTF-8 byte ranges of the secrets in a text. With byte ranges, a combining mark after a secret doesn't hide it.
    package func ranges(in text: String) -> [Range<Int>] {
        guard !texts.isEmpty else { return [] }
        return text.withBytes { bytes in texts.flatMap { Self.ranges(of: $0, in: bytes) } }
    }

    /// Finds short texts only as whole words: `1` is a part of many other texts.
    private static func ranges(of secret: [UInt8], in bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = 0
        while start + secret.count <= bytes.count {
            let end = start + secret.count
            guard bytes[start] == secret[0], bytes[start..<end].elementsEqual(secret) else {
                start += 1
                continue
            }
            let isAlone = (start == 0 || !bytes[start - 1].isAlphanumeric) && (end == bytes.count || !bytes[end].isAlphanumeric)
            if isAlone || secret.count >= 4 { found.append(start..<end) }
            start = end
        }
        return found
    }

    /// Returns the fields with secret values masked.
    package static func masked(_ headers: HTTPFields, _ secrets: RequestSecrets?) -> HTTPFields {
        HTTPFields(
            headers.map { field in
                let text = SecretMask.text(of: field, rules: secrets?.rules ?? .standard, secrets: secrets)
                return HTTPFields.Field(name: field.name, value: text)
            })
    }
}

extension RequestSecrets: CustomStringConvertible, CustomReflectable {
    /// A mask instead of the content.
    package var description: String { SecretMask.mask }
    /// An empty mirror.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
