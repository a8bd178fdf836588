import Foundation

/// An entry of a symbol table of 64-bit ELF files (System V ABI, "Symbol Table").
struct ELFSymbol {
    var name: UInt32 = 0
    var info: UInt8 = 0
    var other: UInt8 = 0
    /// The index of the symbol's section; 0 if the symbol is in another file.
    var section: UInt16 = 0
    var value: UInt64 = 0
    var size: UInt64 = 0
}

// Reads the headers of 64-bit, little-endian ELF files (System V ABI, "Object Files" and "Program Loading").
extension ObjectFile {
    /// The section types that are read.
    private enum SectionType {
        static let symbols: UInt32 = 2
        static let noBits: UInt32 = 8
        static let dynamicSymbols: UInt32 = 11
    }

    /// The header of a section.
    private struct SectionHeader {
        let type: UInt32
        let flags: UInt64
        let address: UInt64
        let bytes: Range<Int>
        let link: Int
        let isLoaded: Bool

        init?(_ reader: ByteReader, at place: Int) {
            guard let type = reader.integer(UInt32.self, at: place + 4), let flags = reader.integer(UInt64.self, at: place + 8),
                let address = reader.integer(UInt64.self, at: place + 16), let start = reader.integer(UInt64.self, at: place + 24),
                let size = reader.integer(UInt64.self, at: place + 32), let link = reader.integer(UInt32.self, at: place + 40)
            else { return nil }
            (self.type, self.flags, self.address, self.link) = (type, flags, address, Int(link))
            isLoaded = flags & 2 != 0
            // A section without bytes in the file may have any offset and size.
            guard type != SectionType.noBits, let first = Int(exactly: start), let count = Int(exactly: size) else {
                bytes = 0..<0
                return
            }
            guard let bytes = reader.range(from: first, count: count) else { return nil }
            self.bytes = bytes
        }
    }

    mutating func readELF(_ reader: ByteReader) throws(ObjectFileError) {
        guard reader.integer(UInt8.self, at: 4) == 2, reader.integer(UInt8.self, at: 5) == 1 else {
            throw ObjectFileError("it isn't a 64-bit, little-endian ELF file")
        }
        guard let machine = reader.integer(UInt16.self, at: 18), let start = reader.offset(UInt64.self, at: 40),
            let size = reader.integer(UInt16.self, at: 58), var count = reader.integer(UInt16.self, at: 60).map(Int.init)
        else { throw ObjectFileError("its ELF header is cut off") }
        processor = machine == 62 ? .x86 : machine == 183 ? .arm : .other
        try readProgramHeaders(reader)
        guard start > 0 else { throw ObjectFileError("it has no section headers") }
        guard size >= 64 else { throw ObjectFileError("its section headers have \(size) bytes each, fewer than 64") }
        // If the header can't hold the number of sections, the size of the first section is the number.
        if count == 0 { count = reader.offset(UInt64.self, at: start + 32) ?? 0 }
        guard reader.range(from: start, count: 0) != nil, count <= (reader.count - start) / Int(size) else {
            throw ObjectFileError("its section headers are beyond its end")
        }
        var headers: [SectionHeader?] = []
        headers.reserveCapacity(count)
        for index in 0..<count { headers.append(SectionHeader(reader, at: start + index * Int(size))) }
        for header in headers {
            guard let header else { throw ObjectFileError("one of its sections is beyond its end") }
            if header.isLoaded, !header.bytes.isEmpty {
                sections.append(Section(address: header.address, bytes: header.bytes, isCode: header.flags & 4 != 0))
            }
            guard header.type == SectionType.symbols || header.type == SectionType.dynamicSymbols else { continue }
            guard headers.indices.contains(header.link), let names = headers[header.link] else {
                throw ObjectFileError("one of its symbol tables has no names")
            }
            tables.append(SymbolTable(entries: header.bytes, names: names.bytes, isFull: header.type == SectionType.symbols))
        }
    }

    /// Reads the address of the file's first byte, and whether the file is a program.
    private mutating func readProgramHeaders(_ reader: ByteReader) throws(ObjectFileError) {
        guard let type = reader.integer(UInt16.self, at: 16), let start = reader.offset(UInt64.self, at: 32),
            let size = reader.integer(UInt16.self, at: 54).map(Int.init), let count = reader.integer(UInt16.self, at: 56).map(Int.init)
        else { throw ObjectFileError("its ELF header is cut off") }
        // A program at a fixed address has the type 2. One at any address is a shared object with an interpreter.
        isProgram = type == 2
        guard count > 0 else { return }
        guard size >= 56, count <= (reader.count - start) / size else { throw ObjectFileError("its program headers are beyond its end") }
        var isBaseKnown = false
        for index in 0..<count {
            let place = start + index * size
            guard let kind = reader.integer(UInt32.self, at: place), let offset = reader.integer(UInt64.self, at: place + 8),
                let address = reader.integer(UInt64.self, at: place + 16)
            else { throw ObjectFileError("its program headers are cut off") }
            if kind == 3 { isProgram = true }
            if kind == 1, !isBaseKnown {
                baseAddress = address &- offset
                isBaseKnown = true
            }
        }
    }
}
