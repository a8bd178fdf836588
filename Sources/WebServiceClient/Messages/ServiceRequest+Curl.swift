import Foundation

extension ServiceRequest {
    /// The request as a `curl` command for a shell, secrets masked: to be shown, not to be run as it stands.
    public var curlCommand: String {
        var parts = ["curl"]
        if method == .head {
            parts.append("--head")
        } else if method != .get || body != nil {
            parts += ["--request", Self.quoted(method.rawValue)]
        }
        // Curl takes these for patterns of several URLs.
        if url.absoluteString.contains(where: { "[]{}".contains($0) }) { parts.append("--globoff") }
        // A field that begins with "@" would be a file's name to curl; its name is no token, and it is never sent.
        for field in RequestSecrets.masked(headers, secrets) where field.name.isValid {
            // Behind a colon without a value curl leaves the field out.
            parts += ["--header", Self.quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")]
        }
        if let body {
            if let file = body.file {
                parts += ["--data-binary", Self.quoted("@" + file.lastPathComponent)]
            } else if let data = body.data, data.count <= 4096, let text = String(data: data, encoding: .utf8), !text.contains("\0") {
                // Not --data-binary: it would read and send the file that a text such as "@/etc/passwd" names.
                let masked = SecretMask.text(ofBody: text, contentType: headers[.contentType] ?? body.contentType)
                parts += ["--data-raw", Self.quoted(secrets?.masked(masked) ?? masked)]
            } else {
                parts += ["--data-binary", Self.quoted("@body")]
            }
        }
        parts.append(Self.quoted(SecretMask.text(of: self)))
        return parts.joined(separator: " ")
    }

    /// A text in single quotes for a POSIX shell.
    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }
}
