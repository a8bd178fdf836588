import Foundation
import WebServiceClient

extension ParserTarget {
    /// What became of a text: its value, or what is wrong with it.
    private enum Outcome: Equatable {
        case value(JSONTree)
        case syntax(JSONSyntaxError.Kind?)
        case other
    }

    private static func outcome(_ data: Data, _ read: (Data) throws -> JSONTree) -> Outcome {
        do {
            return .value(try read(data))
        } catch DecodingError.dataCorrupted(let context) {
            return .syntax((context.underlyingError as? JSONSyntaxError)?.kind)
        } catch {
            return .other
        }
    }

    private static let lead = "[\"" + String(repeating: "x", count: 300) + "\","

    /// An input as an element of a text that is long enough to be read where it lies, right before memory that can't be read, has the same
    /// outcome as in a short text, which is copied. Blanks move the place from which on the long one is copied, too.
    func checkWhereItLies(_ data: Data, _ read: (Data) throws -> JSONTree) {
        var short = Data("[\"x\",".utf8)
        // What the fuzzer makes is seldom longer than what is copied.
        guard let first = data.first, data.count < 200 else { return }
        short += data
        short.append(UInt8(ascii: "]"))
        var long = Data(Self.lead.utf8)
        long += data
        long.append(UInt8(ascii: "]"))
        long += Data(repeating: 0x20, count: Int(first))
        let shown = String(decoding: short, as: UTF8.self).debugDescription
        let expected = Self.outcome(short, read)
        let found = FencedMemory.lend(long) { Self.outcome($0, read) }
        switch (expected, found) {
        case (.value(.array(let few)), .value(.array(let many))):
            check(few.dropFirst() == many.dropFirst(), "\(shown) is read otherwise where it lies, with \(first) blanks")
        default:
            check(expected == found, "\(shown) is \(expected), and \(found) where it lies, with \(first) blanks")
        }
    }
}
