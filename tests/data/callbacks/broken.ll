define void @broken(i32 %site) {
entry:
  br i1 true, label %one, label %two
one:
  %value = add i32 %site, 1
  br label %two
two:
  %wrong = add i32 %value, 1
  ret void
}
