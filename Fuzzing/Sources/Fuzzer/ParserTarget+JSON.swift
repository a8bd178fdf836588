import Foundation
import WebServiceClient

extension ParserTarget {
    /// The result of reading a text: its value or its error.
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

    /// Checks that an input has the same outcome in two texts: a long one, which is read in place directly before unreadable memory, and a
    /// short one, which is copied. Trailing spaces also move the point from which the long text is copied.
    func checkWhereItLies(_ data: Data, _ read: (Data) throws -> JSONTree) {
        var short = Data("[\"x\",".utf8)
        // The fuzzer seldom makes inputs longer than the copied length.
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
            check(few.dropFirst() == many.dropFirst(), "\(shown) is read differently in place, with \(first) blanks")
        default:
            check(expected == found, "\(shown) is \(expected), and \(found) in place, with \(first) blanks")
        }
    }
}
