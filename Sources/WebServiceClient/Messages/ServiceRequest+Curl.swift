import Foundation

extension ServiceRequest {
    /// The request as a `curl` command for a shell, secrets masked: to be shown, not to be run as it stands.
    public var curlCommand: String {
        var parts = ["curl"]
        if method == .head { parts.append("--head") } else if method != .get { parts += ["--request", Self.quoted(method.rawValue)] }
        for field in headers {
            parts += ["--header", Self.quoted("\(field.name): \(SecretMask.text(of: field))")]
        }
        if let body {
            if let file = body.file {
                parts += ["--data-binary", Self.quoted("@" + file.lastPathComponent)]
            } else if let data = body.data, data.count <= 4096, let text = String(data: data, encoding: .utf8), !text.contains("\0") {
                parts += ["--data-binary", Self.quoted(SecretMask.text(ofBody: text, contentType: headers[.contentType]))]
            } else {
                parts += ["--data-binary", Self.quoted("@body")]
            }
        }
        parts.append(Self.quoted(SecretMask.text(of: url)))
        return parts.joined(separator: " ")
    }

    /// A text in single quotes for a POSIX shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
