import Foundation

/// The Swift runtime's own demangler, which every program that contains Swift code has.
enum Demangler {
    /// Returns the declaration that a mangled name denotes; `nil` if it is no name of Swift.
    ///
    /// The text is meant for people, and may change with the version of Swift (SE-0498). Its readers accept what they know, and nothing else.
    static func text(of name: String) -> String? {
        var name = name
        let text = name.withUTF8 { utf8 -> UnsafeMutablePointer<CChar>? in
            utf8.withMemoryRebound(to: CChar.self) { demangle($0.baseAddress, $0.count, nil, nil, 0) }
        }
        guard let text else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

// Declared by its name, since no module of Swift 6.3 declares it. The runtime allocates the result with malloc.
@_silgen_name("swift_demangle")
private func demangle(
    _ name: UnsafePointer<CChar>?, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
    _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
