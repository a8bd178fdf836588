import Foundation

extension ServiceRequest {
    /// The request as a `curl` command for bash, zsh or ksh, with secrets masked. Apart from the masks, the command sends the same method,
    /// URL, fields and body as the request.
    ///
    /// The command includes a body in memory of up to 4,096 bytes, with the members of JSON objects sorted by name, and names files by
    /// their paths. For a longer body or a stream, a comment in the first line names the file to write it to.
    public var curlCommand: String {
        var parts = ["curl"]
        // With a body, curl would default to POST.
        if method == .head, body == nil {
            parts.append("--head")
        } else if method != .get || body != nil {
            parts += ["--request", ShellText.quoted(method.rawValue)]
        }
        let url = SecretMask.text(of: self)
        if url.utf8.contains(where: { "[]{}".utf8.contains($0) }) { parts.append("--globoff") }
        if Self.hasDotSegment(url) { parts.append("--path-as-is") }
        let ownType = body?.contentTypeIsBinding == true || !headers.contains(.contentType) ? body?.contentType : nil
        // curl would take a field that begins with "@" for a file name. Such a field name isn't a token and is never sent.
        for field in RequestSecrets.masked(headers, secrets) where field.name.isValid && (field.name != .contentType || ownType == nil) {
            let value = field.value
            // In curl's syntax, a name with only a colon removes the field.
            parts += ["--header", ShellText.quoted(value.isEmpty ? "\(field.name);" : "\(field.name): \(value)")]
        }
        var note = ""
        if let body {
            if let ownType {
                parts += ["--header", ShellText.quoted("Content-Type: \(ownType)")]
            } else if !headers.contains(.contentType) {
                // Without a Content-Type, curl would declare a form.
                parts += ["--header", "'Content-Type:'"]
            }
            let (option, comment) = Self.option(for: body, contentType: ownType ?? headers[.contentType], secrets)
            if body.length ?? .max > Self.lengthWithoutExpect, !headers.contains(.expect) { parts += ["--header", "'Expect:'"] }
            parts += option
            note = comment.map { "# \($0)\n" } ?? ""
        } else if [.post, .put, .patch].contains(method), !headers.contains(.contentLength) {
            // Transports send the length (RFC 9110 §8.6), but curl doesn't, and servers answer 411.
            parts += ["--header", "'Content-Length: 0'"]
        }
        parts.append(ShellText.quoted(url))
        return note + parts.joined(separator: " ")
    }

    /// Whether curl would change the path: it removes the segments `.` and `..`, and newer versions also their encoded forms.
    private static func hasDotSegment(_ url: String) -> Bool {
        let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard path.contains(UInt8(ascii: ".")) || path.contains(UInt8(ascii: "%")) else { return false }
        return path.split(separator: UInt8(ascii: "/")).contains { segment in
            let text = String(decoding: segment, as: UTF8.self).lowercased().replacingOccurrences(of: "%2e", with: ".")
            return text == "." || text == ".."
        }
    }

    /// The maximum number of body bytes for which curl adds no `Expect: 100-continue`.
    private static let lengthWithoutExpect: Int64 = 1 << 20

    /// The maximum number of body bytes that the command includes.
    private static let bodyLimit = 4096

    private static func option(
        for body: RequestBody, contentType: String?, _ secrets: RequestSecrets?
    ) -> (option: [String], comment: String?) {
        let fromFile = ["--data-binary", "'@body'"]
        guard case .segments(let segments) = body.source else {
            return (fromFile, "The body is a stream, which isn't shown: write its bytes into the file \"body\" first.")
        }
        let shown = segments.reduce(0) { if case .data(let data) = $1 { $0 + data.count } else { $0 } }
        guard shown <= bodyLimit else {
            let count = body.length.map(String.init) ?? "many"
            return (fromFile, "The body of \(count) bytes isn't shown: write its bytes into the file \"body\" first.")
        }
        if let file = body.file { return (["--data-binary", ShellText.quoted("@" + path(of: file))], nil) }
        if let data = body.data {
            let masked = self.masked(body.hasUnorderedKeys ? JSONKeyOrder.sorted(data) : data, contentType, secrets)
            guard masked.contains(0) else { return (["--data-raw", ShellText.quoted(masked)], nil) }
            // An argument can't contain a NUL.
            return (["--data-binary", "@<(\(ShellText.printing(masked)))"], nil)
        }
        let commands = segments.map { segment in
            switch segment {
            case .data(let data): ShellText.printing(masked(data, contentType, secrets))
            case .file(let url, _): "cat " + ShellText.quoted(path(of: url))
            }
        }
        return (["--data-binary", "@<(\(commands.joined(separator: "; ")))"], nil)
    }

    private static func path(of file: URL) -> String {
        file.absoluteURL.path(percentEncoded: false)
    }

    /// The bytes of a body with its secrets masked.
    private static func masked(_ data: Data, _ contentType: String?, _ secrets: RequestSecrets?) -> Data {
        func masked(_ text: String) -> String {
            SecretMask.text(ofBody: text, contentType: contentType, of: secrets)
        }
        if let text = ShellText.text(of: data) { return Data(masked(text).utf8) }
        // Binary data mixed with text, as in a form with a picture: each byte maps to one character and back.
        let text = String(String.UnicodeScalarView(data.map { Unicode.Scalar($0) }))
        return Data(masked(text).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }
}

/// Quotes texts and bytes for a shell.
enum ShellText {
    /// Quotes an argument: in single quotes, or as `$'…'` with escapes if it has unprintable bytes.
    static func quoted(_ text: String) -> String {
        quoted(Data(text.utf8))
    }

    /// Quotes bytes that contain no NUL.
    static func quoted(_ data: Data) -> String {
        if let text = text(of: data), VisibleText.of(text, keepsLineEnds: true) == text {
            // By bytes: an accent makes a quotation mark another character, which still ends the shell's text.
            return "'" + text.split(mark: "'").joined(separator: "'\\''") + "'"
        }
        return "$'" + escaped(data, octal: "\\") + "'"
    }

    /// The bytes as text without any loss; `nil` if they aren't UTF-8.
    static func text(of data: Data) -> String? {
        let text = String(decoding: data, as: UTF8.self)
        return text.utf8.elementsEqual(data) ? text : nil
    }

    /// Returns a command that prints the bytes.
    static func printing(_ data: Data) -> String {
        "printf '%b' '" + escaped(data, octal: "\\0") + "'"
    }

    /// - Parameter octal: The prefix of a byte's three octal digits, which differs between `$'…'` and `printf '%b'`.
    private static func escaped(_ data: Data, octal: String) -> String {
        // Invalid UTF-8 and hidden characters are written as byte escapes.
        let text = text(of: data)
        var result = ""
        for scalar in text?.unicodeScalars ?? String.UnicodeScalarView(data.map { Unicode.Scalar($0) }) {
            switch scalar {
            case "\\": result += "\\\\"
            case "\r": result += "\\r"
            case "\n": result += "\\n"
            case "'": result += code(UInt8(ascii: "'"), octal)
            case _ where !scalar.isASCII && text == nil: result += code(UInt8(truncatingIfNeeded: scalar.value), octal)
            case _ where VisibleText.of(String(scalar)) != String(scalar):
                for byte in String(scalar).utf8 { result += code(byte, octal) }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func code(_ byte: UInt8, _ octal: String) -> String {
        let digits = String(byte, radix: 8)
        return octal + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
