package import Foundation

/// Finds remains of a secret in a program's output.
package enum SecretLeaks {
    /// Returns every run of six bytes as a number.
    package static func runs(of bytes: some Sequence<UInt8>) -> Set<UInt64> {
        var runs: Set<UInt64> = []
        var run: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            run = (run << 8 | UInt64(byte)) & 0xFFFF_FFFF_FFFF
            if index >= 5 { runs.insert(run) }
        }
        return runs
    }

    /// Returns the bytes and everything that can be decoded from them.
    package static func visible(_ bytes: Data) -> [UInt8] {
        var layer = Array(bytes)
        var all = layer
        appendDecodedRuns(of: layer, to: &all)
        for _ in 0..<3 {
            let plain = unescaped(layer)
            guard plain.count < layer.count else { break }
            all += plain
            appendDecodedRuns(of: plain, to: &all)
            layer = plain
        }
        return all
    }

    /// Removes one layer of `\"`, `\\`, `\/` and percent-encoding. The result is shorter if there was something to decode.
    private static func unescaped(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBufferPointer { bytes -> [UInt8] in
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            var index = 0
            while index < bytes.count {
                let byte = bytes[index]
                if byte == 0x5C, index + 1 < bytes.count, bytes[index + 1] == 0x22 || bytes[index + 1] == 0x5C || bytes[index + 1] == 0x2F {
                    result.append(bytes[index + 1])
                    index += 2
                } else if byte == 0x25, index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) {
                    result.append(high << 4 | low)
                    index += 3
                } else {
                    result.append(byte)
                    index += 1
                }
            }
            return result
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    /// Decodes the runs of Base64 digits, in either alphabet, from every possible start.
    private static func appendDecodedRuns(of bytes: [UInt8], to all: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            var index = 0
            while index <= bytes.count {
                if index < bytes.count, isDigit[Int(bytes[index])] {
                    index += 1
                    continue
                }
                if index - start >= 12 {
                    for offset in 0..<4 {
                        let count = (index - start - offset) / 4 * 4
                        var run = Data(bytes[(start + offset)..<(start + offset + count)])
                        if run.contains(0x2D) || run.contains(0x5F) {
                            run = Data(run.map { byte -> UInt8 in byte == 0x2D ? 0x2B : byte == 0x5F ? 0x2F : byte })
                        }
                        if let data = Data(base64Encoded: run) { all += Array(data) + [0] }
                    }
                }
                index += 1
                start = index
            }
        }
    }

    /// Whether each byte is a Base64 digit.
    private static let isDigit: [Bool] = {
        let digits = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_".utf8)
        return (UInt8.min...UInt8.max).map { digits.contains($0) }
    }()

    /// Returns six bytes of a secret that are among the visible runs; `nil` if there are none.
    package static func leak(of secret: String, in visible: Set<UInt64>) -> String? {
        runs(of: secret.utf8).first { visible.contains($0) }.map { text($0) }
    }

    /// Returns six bytes of a secret that are visible in a text; `nil` if there are none.
    ///
    /// A secret has few runs, so the text is scanned once, and most of its runs already differ from all of these in the last byte.
    package static func leak(of secret: String, in text: String) -> String? {
        let runs = Self.runs(of: secret.utf8)
        var ends = [Bool](repeating: false, count: 256)
        for run in runs { ends[Int(run & 255)] = true }
        return visible(Data(text.utf8)).withUnsafeBufferPointer { bytes -> String? in
            ends.withUnsafeBufferPointer { ends -> String? in
                var run: UInt64 = 0
                var index = 0
                while index < bytes.count {
                    run = (run << 8 | UInt64(bytes[index])) & 0xFFFF_FFFF_FFFF
                    if index >= 5, ends[Int(bytes[index])], runs.contains(run) { return Self.text(run) }
                    index += 1
                }
                return nil
            }
        }
    }

    private static func text(_ run: UInt64) -> String {
        String(decoding: (0..<6).map { UInt8(truncatingIfNeeded: run >> (40 - 8 * $0)) }, as: UTF8.self)
    }

    /// Returns the descriptions and the dump of a value.
    package static func texts(of value: Any) -> String {
        var text = String(describing: value) + "\n" + String(reflecting: value) + "\n"
        dump(value, to: &text)
        return text
    }
}
