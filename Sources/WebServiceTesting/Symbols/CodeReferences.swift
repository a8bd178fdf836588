import Foundation

/// Determines whether code uses a text literal.
///
/// A method that calls the table passes its own name, by the default argument `#function`. Its code contains the address of that literal
/// or, in an optimized build, a short text itself.
struct CodeReferences {
    let file: ObjectFile
    /// The addresses of the file's data. Most numbers in code aren't addresses, and are out of this range.
    private let data: Range<UInt64>
    /// The addresses without data: the code, which most addresses in code refer to.
    private let code: Range<UInt64>

    init(file: ObjectFile) {
        self.file = file
        data = Self.span(of: file.sections.filter { !$0.isCode })
        let code = Self.span(of: file.sections.filter(\.isCode))
        self.code = file.sections.contains { !$0.isCode && code.overlaps(Self.span(of: [$0])) } ? 0..<0 : code
    }

    private static func span(of sections: [ObjectFile.Section]) -> Range<UInt64> {
        let start = sections.map(\.address).min() ?? 0
        let ends = sections.map { $0.address.addingReportingOverflow(UInt64($0.bytes.count)) }
        return start..<max(start, ends.map { $0.overflow ? .max : $0.partialValue }.max() ?? 0)
    }

    /// Returns whether one of several pieces of code uses a text; `nil` if this module doesn't know the processor's instructions, or if the
    /// file doesn't contain the code.
    ///
    /// - Parameter code: The addresses and sizes of the pieces, as linked.
    func uses(_ text: String, in code: [(address: UInt64, size: UInt64)]) -> Bool? {
        guard file.processor != .other else { return nil }
        var hasCode = false
        let literal = Array(text.utf8) + [0]
        for piece in code {
            guard piece.size > 0, let range = file.code(from: piece.address, atMost: piece.size) else { continue }
            hasCode = true
            let found = file.data.withUnsafeBytes { buffer in
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[range])
                return file.processor == .x86 ? x86(bytes, piece.address, literal, buffer) : arm(bytes, piece.address, literal, buffer)
            }
            if found { return true }
        }
        return hasCode ? false : nil
    }

    /// Returns whether an address refers to a literal. Optimized code contains the address of a long text minus 32, as strings store it.
    private func leads(_ address: UInt64, to literal: [UInt8], _ buffer: UnsafeRawBufferPointer) -> Bool {
        let later = address &+ 32
        guard later >= data.lowerBound, address < data.upperBound, address < code.lowerBound || later >= code.upperBound else {
            return false
        }
        return has(literal, at: address, buffer) || has(literal, at: later, buffer)
    }

    private func has(_ literal: [UInt8], at address: UInt64, _ buffer: UnsafeRawBufferPointer) -> Bool {
        guard let place = file.place(of: address, count: literal.count), let start = buffer.baseAddress else { return false }
        return memcmp(start + place, literal, literal.count) == 0
    }

    /// Returns the beginning of a literal in the form of an instruction's operand; `nil` if the literal is too short to be distinguished
    /// from other numbers, or too long to be an operand.
    private static func immediate(of literal: [UInt8]) -> [UInt8]? {
        let count = literal.count - 1
        return count >= 4 && count <= 15 ? Array(literal.prefix(min(count, 8))) : nil
    }

    /// Reads x86-64 code. Addresses are relative to the next instruction, which begins after the four bytes of the address.
    private func x86(_ code: UnsafeRawBufferPointer, _ address: UInt64, _ literal: [UInt8], _ buffer: UnsafeRawBufferPointer) -> Bool {
        guard let start = code.baseAddress, code.count >= 4 else { return false }
        let immediate = Self.immediate(of: literal)
        var distance: Int32 = 0
        for offset in 0...(code.count - 4) {
            memcpy(&distance, start + offset, 4)
            let target = address &+ UInt64(offset) &+ 4 &+ UInt64(bitPattern: Int64(distance))
            if leads(target, to: literal, buffer) { return true }
            guard let immediate, immediate.count <= code.count - offset else { continue }
            if memcmp(start + offset, immediate, immediate.count) == 0 { return true }
        }
        return false
    }

    /// Reads ARM code. `ADRP` and `ADD`, or `ADR`, load an address; `MOVZ` and up to three `MOVK` load a number.
    private func arm(_ code: UnsafeRawBufferPointer, _ address: UInt64, _ literal: [UInt8], _ buffer: UnsafeRawBufferPointer) -> Bool {
        let immediate = Self.immediate(of: literal)?.enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << UInt64($1.offset * 8) }
        var registers = [UInt64](repeating: 0, count: 32)
        for offset in stride(from: 0, through: code.count - 4, by: 4) {
            let word = code.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            let target = Int(word & 31)
            let counter = address &+ UInt64(offset)
            if word & 0x1F00_0000 == 0x1000_0000 {
                let bits = Int64(word >> 29 & 3) | Int64(word >> 5 & 0x7FFFF) << 2
                let distance = UInt64(bitPattern: (bits << 43) >> 43)
                if word >> 31 == 1 {
                    // The address of a page; the next instruction adds the rest.
                    registers[target] = (counter & ~0xFFF) &+ distance << 12
                    continue
                }
                registers[target] = counter &+ distance
            } else if word & 0xFF80_0000 == 0x9100_0000 {
                let added = UInt64(word >> 10 & 0xFFF) << (word >> 22 & 1 == 1 ? 12 : 0)
                registers[target] = registers[Int(word >> 5 & 31)] &+ added
            } else if word & 0xFF80_0000 == 0xD280_0000 {
                registers[target] = UInt64(word >> 5 & 0xFFFF) << UInt64((word >> 21 & 3) * 16)
            } else if word & 0xFF80_0000 == 0xF280_0000 {
                let shift = UInt64((word >> 21 & 3) * 16)
                registers[target] = registers[target] & ~(0xFFFF << shift) | UInt64(word >> 5 & 0xFFFF) << shift
            } else {
                continue
            }
            if leads(registers[target], to: literal, buffer) { return true }
            if let immediate, registers[target] == immediate { return true }
        }
        return false
    }
}
