package import Foundation
import WebServiceClient

/// Finds what is left of a secret in what a program prints or writes.
package enum SecretLeaks {
    /// Every run of six bytes, each as a number.
    package static func runs(of bytes: some Sequence<UInt8>) -> Set<UInt64> {
        var runs: Set<UInt64> = []
        var run: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            run = (run << 8 | UInt64(byte)) & 0xFFFF_FFFF_FFFF
            if index >= 5 { runs.insert(run) }
        }
        return runs
    }

    /// What a searcher would see: the bytes, and everything in them that can be decoded.
    package static func visible(_ bytes: Data) -> [UInt8] {
        var all = Array(bytes)
        var layer = String(decoding: bytes, as: UTF8.self)
        for _ in 0..<3 {
            let plain = layer.replacing("\\\"", with: "\"").replacing("\\\\", with: "\\").replacing("\\/", with: "/")
            let decoded = URLEncoding.decode(plain) ?? plain
            all += Array(decoded.utf8)
            for run in decoded.split(whereSeparator: { !($0.isASCII && ($0.isLetter || $0.isNumber) || "+/-_".contains($0)) })
            where run.count >= 12 {
                for offset in 0..<4 {
                    let digits = run.dropFirst(offset).replacing("-", with: "+").replacing("_", with: "/")
                    let whole = String(digits.prefix(digits.count / 4 * 4))
                    if let data = Data(base64Encoded: whole) { all += Array(data) + [0] }
                }
            }
            layer = decoded
        }
        return all
    }

    /// Six bytes of a secret that are among the runs of what is visible; `nil` when none are.
    package static func leak(of secret: String, in visible: Set<UInt64>) -> String? {
        guard let run = runs(of: secret.utf8).first(where: visible.contains) else { return nil }
        return String(decoding: (0..<6).map { UInt8(truncatingIfNeeded: run >> (40 - 8 * $0)) }, as: UTF8.self)
    }

    /// Six bytes of a secret that can be seen in a text; `nil` when none can.
    package static func leak(of secret: String, in text: String) -> String? {
        leak(of: secret, in: runs(of: visible(Data(text.utf8))))
    }

    /// Whatever a value shows of itself: its descriptions and its dump.
    package static func texts(of value: Any) -> String {
        var text = String(describing: value) + "\n" + String(reflecting: value) + "\n"
        dump(value, to: &text)
        return text
    }
}
